import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { makeTestDirectory } from '#test/support/directories.ts';
import { Program } from '#test/support/programs/start.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** An npm that installs only Node 24, as the package `node` does, and a bundler that writes one line. */
const goodNpm = `mkdir -p node_modules/.bin && ln -sf ${process.execPath} node_modules/.bin/node; echo x >> npm-runs
mkdir -p node_modules/rolldown; cp rolldown.json node_modules/rolldown/package.json; cp rolldown.js node_modules/rolldown/`;
const bundler = `import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
appendFileSync('build-runs', 'x');
const write = ({ dir }) => {
  mkdirSync(dir, { recursive: true });
  writeFileSync(dir + '/main.js', '// built');
};
export const rolldown = async () => ({ write, close() {} });`;
/** A go whose build takes a second and produces a program that runs. */
const goodGo =
  'echo x >> "$GOBIN/../go-runs"; sleep 1; printf "#!/bin/sh\\necho temporal" > "$GOBIN/temporal"; chmod +x "$GOBIN/temporal"';

/** A clone of the project on a machine that has only these programs, which are shell scripts. */
function makeClone(programs: Record<string, string>) {
  const directory = makeTestDirectory();
  const clone = join(directory, 'clone');
  const bin = join(directory, 'bin');
  for (const folder of [clone, bin]) mkdirSync(folder);
  for (const name of ['package.json', 'package-lock.json', 'scripts']) {
    cpSync(join(root, name), join(clone, name), { recursive: true });
  }
  for (const folder of ['src', 'migrations']) mkdirSync(join(clone, folder));
  writeFileSync(join(clone, 'src', 'main.ts'), '// the service');
  writeFileSync(join(clone, 'rolldown.js'), bundler);
  writeFileSync(join(clone, 'rolldown.json'), '{"type": "module", "exports": "./rolldown.js"}');
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  for (const tool of ['sh', 'mkdir', 'cp', 'ln', 'sleep', 'chmod']) symlinkSync(`/bin/${tool}`, join(bin, tool));
  const environment = { PATH: bin, HOME: directory, XDG_CACHE_HOME: join(directory, 'cache') };
  const setUp = (extra: Record<string, string> = {}) =>
    new Program([process.execPath, 'scripts/setup.js', 'start'], { ...environment, ...extra }, clone);
  const cached = join(directory, 'cache', 'delivery-coordinator', 'temporal-1.5.1');
  return { clone, setUp, cached };
}

/** The lines of output that are not progress of a step. */
function sentences({ output }: Program): string[] {
  return output.split('\n').filter((line) => line !== '' && !/ …( \d+ s)?$|(done in|failed after) \d+ s/.test(line));
}

async function failOf(program: Program): Promise<string> {
  expect(await program.ends()).toBe(1);
  expect(sentences(program)).toHaveLength(1);
  expect(program.output).not.toMatch(/\n\s+at /);
  return sentences(program)[0] ?? '';
}

describe('set-up', () => {
  it('installs the dependencies and a Temporal server once, and does nothing the second time', async () => {
    const { clone, cached, setUp } = makeClone({ npm: goodNpm, go: goodGo });
    const first = setUp();
    expect(await first.ends()).toBe(0);
    expect(first.output).toContain('Installing dependencies: done in');
    expect(existsSync(join(cached, 'temporal'))).toBe(true);
    const second = setUp();
    expect(await second.ends()).toBe(0);
    expect(second.output).toBe('');
    expect(readFileSync(join(clone, 'npm-runs'), 'utf8')).toBe('x\n');
  });

  it('installs the dependencies again after the lock file has changed', async () => {
    const { clone, setUp } = makeClone({ npm: goodNpm, temporal: 'true' });
    await setUp().ends();
    writeFileSync(join(clone, 'package-lock.json'), '{"packages": {"node_modules/new": {"version": "1.0.0"}}}');
    await setUp().ends();
    expect(readFileSync(join(clone, 'npm-runs'), 'utf8')).toBe('x\nx\n');
  });

  it('does the work once when several set-ups run at the same time', async () => {
    const { clone, cached, setUp } = makeClone({ npm: `sleep 1; ${goodNpm}`, go: goodGo });
    const all = [setUp(), setUp(), setUp()];
    expect(await Promise.all(all.map((program) => program.ends()))).toEqual([0, 0, 0]);
    expect(readFileSync(join(clone, 'npm-runs'), 'utf8')).toBe('x\n');
    expect(readFileSync(join(cached, 'go-runs'), 'utf8')).toBe('x\n');
  });

  it('builds the service once, and again after its code has changed', async () => {
    const { clone, setUp } = makeClone({ npm: goodNpm, temporal: 'true' });
    await setUp().ends();
    expect(await setUp().ends()).toBe(0);
    expect(readFileSync(join(clone, 'build', 'current', 'main.js'), 'utf8')).toBe('// built');
    expect(readFileSync(join(clone, 'build-runs'), 'utf8')).toBe('x');
    const before = realpathSync(join(clone, 'build', 'current'));
    writeFileSync(join(clone, 'src', 'main.ts'), '// another service');
    expect(await setUp().ends()).toBe(0);
    expect(readFileSync(join(clone, 'build-runs'), 'utf8')).toBe('xx');
    // A service that runs restarts its processes from its own build.
    expect(existsSync(join(before, 'main.js'))).toBe(true);
  });

  it('reports why the service cannot be built', async () => {
    const { clone, setUp } = makeClone({ npm: goodNpm, temporal: 'true' });
    writeFileSync(join(clone, 'rolldown.js'), 'throw new Error("no space is left");');
    expect(await failOf(setUp())).toMatch(/^The service cannot be built: .*no space is left/);
    expect(existsSync(join(clone, 'build', 'current'))).toBe(false);
  });

  it('leaves no lock and no incomplete program behind when it is killed, so that the next set-up succeeds', async () => {
    const { cached, setUp } = makeClone({ npm: goodNpm, go: `echo started > "$GOBIN/temporal"; ${goodGo}` });
    const killed = setUp();
    await killed.says(/Building a Temporal server/);
    await killed.stop('SIGKILL');
    expect(existsSync(join(cached, 'temporal'))).toBe(false);
    expect(await setUp().ends()).toBe(0);
    expect(readFileSync(join(cached, 'temporal'), 'utf8')).toContain('echo temporal');
  });

  it('says what to do when npm is offline', async () => {
    const offline = 'echo "npm error code ENOTFOUND" >&2; echo "npm error network getaddrinfo ENOTFOUND" >&2; exit 1';
    expect(await failOf(makeClone({ npm: offline }).setUp())).toMatch(/cannot be downloaded: connect to the network/);
  });

  it("reports npm's error when npm fails for another reason", async () => {
    const npm =
      'printf "npm error code EINTEGRITY\\nnpm error\\nnpm error It changed.\\nnpm error More.\\n" >&2; exit 1';
    expect(await failOf(makeClone({ npm }).setUp())).toContain('npm says: code EINTEGRITY: It changed.');
  });

  it('says what to do when install scripts are disabled', async () => {
    const npm = 'mkdir -p node_modules/.bin';
    expect(await failOf(makeClone({ npm }).setUp())).toMatch(/Node 24 was not installed.+ignore-scripts/);
  });

  it('says what to do when Go is missing', async () => {
    expect(await failOf(makeClone({ npm: goodNpm }).setUp())).toMatch(
      /Go is missing: install Go .+TEMPORAL_ADDRESS to the address of a Temporal server\.$/,
    );
  });

  it('says what to do when Go is offline, is too old, or fails', async () => {
    const scripts = {
      'without a network': 'echo "dial tcp: lookup example: no such host" >&2; exit 1',
      'too old': 'echo "go: module requires go >= 1.99" >&2; exit 1',
      'it broke': 'echo "it broke" >&2; exit 1',
    };
    for (const [reason, go] of Object.entries(scripts)) {
      expect(await failOf(makeClone({ npm: goodNpm, go }).setUp())).toContain(reason);
    }
  });

  it('rejects a Temporal server that does not run', async () => {
    const go = 'echo broken > "$GOBIN/temporal"; chmod +x "$GOBIN/temporal"; exit 0';
    const { cached, setUp } = makeClone({ npm: goodNpm, go: go.replace('echo broken', 'printf "#!/bin/sh\\nexit 1"') });
    expect(await failOf(setUp())).toContain('does not run on this machine');
    expect(existsSync(join(cached, 'temporal'))).toBe(false);
  });

  it('installs no Temporal server when one is configured or on PATH', async () => {
    expect(await makeClone({ npm: goodNpm }).setUp({ TEMPORAL_ADDRESS: 'temporal:7233' }).ends()).toBe(0);
    expect(await makeClone({ npm: goodNpm, temporal: 'true' }).setUp().ends()).toBe(0);
  });

  it('ends its child processes when it is asked to stop', async () => {
    const { setUp } = makeClone({ npm: 'exec sleep 987' });
    const program = setUp();
    await program.says(/Installing dependencies/);
    await program.stop();
    const ps = new Program(['/bin/sh', '-c', 'sleep 0.5; ps -A -o args= | grep -c "^sleep 987"'], process.env);
    await ps.ends();
    expect(ps.output.trim()).toBe('0');
  });
});
