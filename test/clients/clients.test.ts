import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findClientTools } from '#test/support/programs/client-tools.ts';
import { administrator, type System, startSystem } from '#test/support/system.ts';

const run = promisify(execFile);
const typescript = findClientTools('typescript');
const python = findClientTools('python');

let system: System;
let directory: string;
let environment: Record<string, string>;

beforeAll(async () => {
  system = await startSystem();
  directory = mkdtempSync(join(tmpdir(), 'coordinator-clients-'));
  const document = await fetch(`${system.url}/api/v1/openapi.json`);
  writeFileSync(join(directory, 'openapi.json'), await document.text());
  const { PATH = '' } = process.env;
  environment = {
    PATH,
    HOME: directory,
    SERVICE_URL: system.url,
    ADMINISTRATOR: administrator.email,
    PASSWORD: administrator.password,
  };
});
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  await system.close();
});

/** Copies the sources of a client into a directory of its own, as a user's project. */
function createProject(language: 'typescript' | 'python', files: readonly string[]): string {
  const project = join(directory, language);
  mkdirSync(project);
  for (const file of files) cpSync(join('test', 'clients', language, file), join(project, file));
  return project;
}

describe.skipIf(typescript === null).concurrent('a TypeScript client that openapi-typescript generates', () => {
  it("compiles strictly, follows the README's tour, runs an assembly, undoes a run, finds drift, schedules a run and creates a connection", async () => {
    const programs = ['session.ts', 'tour.ts', 'assembly.ts', 'upkeep.ts', 'connections.ts'];
    const project = createProject('typescript', ['package.json', 'tsconfig.json', ...programs]);
    symlinkSync(join(typescript ?? '', 'node_modules'), join(project, 'node_modules'));
    const options = { cwd: project, env: environment };
    const program = (name: string) => join('node_modules', '.bin', name);
    await run(program('openapi-typescript'), ['../openapi.json', '--output', 'api.d.ts'], options);
    await run(program('tsc'), ['--project', '.'], options);
    const { stdout } = await run(process.execPath, ['tour.ts'], options);
    expect(JSON.parse(stdout)).toEqual({
      status: 'succeeded',
      log: expect.stringContaining('Hello, Ana'),
      last: 'run.finished',
    });
    const assembly = await run(process.execPath, ['assembly.ts'], options);
    expect(JSON.parse(assembly.stdout)).toEqual({
      valid: true,
      changes: [],
      self: false,
      nodes: { first: 'succeeded', second: 'succeeded' },
      last: 'assembly_run.finished',
    });
    const upkeep = await run(process.execPath, ['upkeep.ts'], options);
    expect(JSON.parse(upkeep.stdout)).toEqual({
      verdicts: [{ path: '/variables/size', verdict: 'clean' }],
      undone: { variables: { size: 1, name: 'second' }, undoes: true },
      finding: { address: 'machine', path: 'size', before: 1 },
      remediation: { operation: 'apply', required: 1 },
      next: 5,
      paused: 0,
      deleted: 204,
    });
    const connections = await run(process.execPath, ['connections.ts'], options);
    expect(JSON.parse(connections.stdout)).toEqual({
      provides: ['MONITORING_TOKEN'],
      rotated: 2,
      refused: 400,
      channel: 400,
    });
  }, 180_000);
});

describe.skipIf(python === null).concurrent('a Python client that openapi-python-client generates', () => {
  it("has every operation, follows the README's tour and creates a connection", async () => {
    const project = createProject('python', ['tour.py']);
    const programs = join(python ?? '', 'venv', 'bin');
    const options = { cwd: project, env: { ...environment, PATH: `${programs}:${environment['PATH']}` } };
    const generate = [
      'generate',
      '--path',
      '../openapi.json',
      '--meta',
      'none',
      '--output-path',
      'client',
      '--fail-on-warning',
    ];
    await run(join(programs, 'openapi-python-client'), generate, options);
    await run(join(programs, 'python'), ['-m', 'compileall', '-q', 'client'], options);
    const { stdout } = await run(join(programs, 'python'), ['tour.py'], options);
    expect(JSON.parse(stdout)).toEqual({
      status: 'succeeded',
      last: 'run.finished',
      provides: ['MONITORING_TOKEN'],
    });
  }, 180_000);
});
