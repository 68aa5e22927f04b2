import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { readProgram, startProgram } from '#domain/shared/evaluation/program.ts';

/** Threads that start when the process may no longer read its code. */
let directory = '';
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const root = new URL('../../../../', import.meta.url).pathname;
const nobody = 65_534;

it('a program starts again after its files are gone: TypeScript, CommonJS, JSON and what they import', async () => {
  directory = mkdtempSync(join(tmpdir(), 'program-'));
  const files = {
    'package.json': '{"type": "module"}',
    'data.json': '{"it": "from JSON"}',
    'old.cjs': 'module.exports = { old: require("./data.json").it };',
    'typed.ts': 'export const typed: string = "from TypeScript";',
    'main.ts':
      'import { parentPort } from "node:worker_threads";\nimport old from "./old.cjs";\nimport { typed } from "./typed.ts";\n' +
      'parentPort?.on("message", () => parentPort?.postMessage([typed, old.old]));\n',
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
  const options = { env: {}, execArgv: [] };
  const program = await readProgram(pathToFileURL(join(directory, 'main.ts')), options);
  rmSync(directory, { recursive: true });
  for (let start = 0; start < 2; start += 1) {
    const worker = startProgram(program, options);
    const answer = new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
    worker.postMessage('');
    expect(await answer).toEqual(['from TypeScript', 'from JSON']);
    await worker.terminate();
  }
});

it('reading a program that fails to load throws its error', async () => {
  directory = mkdtempSync(join(tmpdir(), 'program-'));
  const broken = join(directory, 'broken.mjs');
  writeFileSync(broken, 'throw new Error("broken");');
  await expect(readProgram(pathToFileURL(broken), { env: {}, execArgv: [] })).rejects.toThrow('broken');
});

/** Evaluates schemas as another user, who may not read the code, while every evaluation ends its thread. */
const evaluateWithoutPrivileges = `
import { Evaluator } from '#domain/shared/evaluation/evaluator.ts';
import { VariableEvaluator } from '#domain/registry/evaluation/variable-evaluator.ts';
import { EvaluationThread } from '#domain/shared/evaluation/thread.ts';
const evaluator = new Evaluator();
await evaluator.keepCode();
const schema = { type: 'object', properties: { name: { type: 'string', pattern: '^[a-z]+$' } } };
const run = EvaluationThread.prototype.run;
EvaluationThread.prototype.run = async function (...given) {
  await this.close();
  return run.apply(this, given);
};
process.setgroups([]);
process.setgid(${nobody});
process.setuid(${nobody});
for (let turn = 0; turn < 4; turn += 1) {
  const { valid } = await new VariableEvaluator(evaluator, { person: 'ana', owner: 'ana' }).validate(schema, { name: 'network' });
  process.stdout.write(valid ? 'valid ' : 'invalid ');
}
await evaluator.close();
`;

it.runIf(process.getuid?.() === 0)(
  'evaluation threads that are killed start again in a process that has given up root, and may not read its code',
  async () => {
    directory = mkdtempSync(join(tmpdir(), 'program-'));
    mkdirSync(join(directory, 'src'));
    cpSync(join(root, 'src/domain'), join(directory, 'src/domain'), { recursive: true });
    cpSync(join(root, 'src/database'), join(directory, 'src/database'), { recursive: true });
    cpSync(join(root, 'package.json'), join(directory, 'package.json'));
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
    writeFileSync(join(directory, 'main.ts'), evaluateWithoutPrivileges);
    chmodSync(directory, 0o700);
    const { stdout } = await promisify(execFile)(process.execPath, [join(directory, 'main.ts')], { cwd: '/' });
    expect(stdout).toBe('valid valid valid valid ');
  },
);
