/**
 * Without `--disable-sigusr1`, Node opens a debugger on loopback when it receives SIGUSR1. This listener overrides that,
 * and is registered before anything else is loaded.
 */
process.on('SIGUSR1', () => {});

const { runCommandLine } = await import('./command-line.ts');
await runCommandLine(import.meta.filename);
