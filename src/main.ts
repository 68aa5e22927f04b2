/**
 * Where Node was started without `--disable-sigusr1`, SIGUSR1 would open a debugger on loopback. This listener takes the
 * signal from Node, and does so before anything else is loaded.
 */
process.on('SIGUSR1', () => {});

const { runCommandLine } = await import('./command-line.ts');
await runCommandLine(import.meta.filename);
