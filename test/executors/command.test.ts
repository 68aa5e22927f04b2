import { afterAll, describe, expect, it } from 'vitest';
import type { CommandExecutor } from '#executors/protocol/request.ts';
import { makeRequest, makeWorkRoot, run, runScript, runSteps, shell } from './support.ts';

const work = makeWorkRoot();
afterAll(work.remove);

const plan = (executor: Partial<CommandExecutor>, changes = {}) =>
  run(
    makeRequest({
      workRoot: work.path,
      phase: 'plan',
      executor: { kind: 'command', apply: [], ...executor },
      ...changes,
    }),
  );

describe('command templates', () => {
  it('the result of a failed step has the last lines of its standard error and the program that is missing', async () => {
    const failed = await runScript(work.path, 'echo first >&2; echo "cannot reach the host" >&2; exit 4');
    expect(failed.result.diagnostics).toEqual([
      {
        severity: 'error',
        message: 'step "script" ended with exit code 4: cannot reach the host',
        detail: 'first\ncannot reach the host',
      },
    ]);
    const silent = await runScript(work.path, 'exit 5');
    expect(silent.result.diagnostics).toEqual([{ severity: 'error', message: 'step "script" ended with exit code 5' }]);
    const missing = await runScript(work.path, 'frobnicate --now');
    expect(missing.result.diagnostics).toMatchObject([{ program: 'frobnicate' }]);
    expect(missing.result).toMatchObject({ reason: 'step_failed', exitCode: 127 });
  });

  it('steps run in order with the files, variables and state, and their outputs and state are returned', async () => {
    const { result, sink } = await runSteps(
      work.path,
      {
        files: {
          'deploy.sh': '#!/bin/sh\necho "size=$COORDINATOR_VAR_SIZE"\ncat "$COORDINATOR_STATE_FILE"\n',
          'data/a.txt': 'a file',
        },
        apply: [
          { name: 'deploy', run: ['./deploy.sh'] },
          shell(
            'cat data/a.txt; echo \'{"count": 2}\' > state.json; echo \'{"address": "10.0.0.1", "list": [1]}\' > outputs.json',
          ),
        ],
      },
      { variables: { size: 3 }, state: Buffer.from('{"count": 1}') },
    );
    expect(result).toMatchObject({ outcome: 'succeeded', exitCode: 0 });
    expect(result.outputs).toEqual({
      address: { value: '10.0.0.1', sensitive: false },
      list: { value: [1], sensitive: false },
    });
    expect(sink.text('stdout')).toBe('size=3\n{"count": 1}a file');
    expect(sink.states.map(({ content }) => content.toString())).toEqual(['{"count": 2}\n']);
    expect(sink.text('system').match(/^step .+$/gm)).toEqual(['step deploy', 'step script']);
  });

  it('secret variables are in the variables file but not in the environment of steps', async () => {
    const { sink } = await runScript(
      work.path,
      'env | grep -c "^COORDINATOR_VAR_TOKEN=" || true; printf "%s\\n" "$COORDINATOR_VAR_OPEN" "$COORDINATOR_VAR_DEEP"; stat -c %a variables.json; wc -c < variables.json; cat variables.json',
      { variables: { token: 'very-secret-token', open: 'yes', deep: { a: [1] } }, sensitiveVariables: ['token'] },
    );
    const text = sink.text('stdout');
    expect(text).toContain('0\nyes\n{"a":[1]}\n600\n');
    expect(text).toContain('{"token":"[redacted]","open":"yes","deep":{"a":[1]}}');
  });

  it("steps get the environment's variables, except those that are reserved for the service", async () => {
    const environment = [
      { name: 'CLOUD_KEY', value: 'cloud-secret-key', sensitive: true },
      { name: 'REGION', value: 'here', sensitive: false },
      { name: 'COORDINATOR_ATTEMPT', value: 'other', sensitive: false },
      { name: 'HOME', value: '/root', sensitive: false },
    ];
    const { sink } = await runScript(
      work.path,
      'echo "$REGION $CLOUD_KEY"; echo "$HOME"; [ "$COORDINATOR_ATTEMPT" = other ] || echo kept',
      { environment },
    );
    expect(sink.text('stdout')).toMatch(/^here \[redacted\]\n\/.*\/home\nkept\n$/);
    expect(sink.text('system')).toContain('the variable HOME is not passed on');
  });

  it('the changes in plan.json become the plan, with secrets masked', async () => {
    const changes = [
      { address: 'dns.record', action: 'update', before: { v: 1 }, after: { v: 2, note: 'uses hidden-token' } },
      { address: 'named', action: 'update', type: 'hidden-token' },
      { address: 'key', action: 'create', after: 'generated-key-1', sensitive: true },
      { address: 'old', action: 'delete' },
    ];
    const { result, sink } = await plan(
      {
        plan: [
          shell(`cat > plan.json <<'X'\n${JSON.stringify(changes)}\nX\necho made generated-key-1`),
          shell('echo hidden-token'),
        ],
      },
      { variables: { t: 'hidden-token' }, sensitiveVariables: ['t'] },
    );
    expect(result.plan).toMatchObject({ hasChanges: true, assumed: false, summary: { add: 1, change: 2, destroy: 1 } });
    expect(result.plan?.changes).toEqual([
      { address: 'dns.record', action: 'update', before: { v: 1 }, after: { v: 2, note: { sensitive: true } } },
      { address: 'named', action: 'update', type: '[redacted]', before: null, after: null },
      { address: 'key', action: 'create', before: null, after: { sensitive: true } },
      { address: 'old', action: 'delete', before: null, after: null },
    ]);
    expect(sink.text('stdout')).toContain('[redacted]');
    const none = await plan({ plan: [shell('echo "[]" > plan.json')] });
    expect(none.result.plan).toMatchObject({ hasChanges: false, changes: [] });
  });

  it.each([
    ['invalid JSON', 'echo "{" > plan.json'],
    ['not a list', 'echo "{}" > plan.json'],
    ['a list with an unknown action', `echo '[{"address": "a", "action": "explode"}]' > plan.json`],
    ['a list without an address', `echo '[{"action": "create"}]' > plan.json`],
    ['a link out of the sandbox', 'ln -s /etc/passwd plan.json'],
    ['a pipe that never ends', 'mkfifo plan.json'],
    ['a directory', 'mkdir plan.json'],
    ['not valid UTF-8', 'printf "[\\377]" > plan.json'],
  ])('a plan.json that is %s ends the plan with plan_invalid', async (_, script) => {
    expect((await plan({ plan: [shell(script)] })).result).toMatchObject({ outcome: 'failed', reason: 'plan_invalid' });
  });

  it('a template without a plan is assumed to change something, and the log says so', async () => {
    const { result, sink } = await plan({});
    expect(result.plan).toMatchObject({ hasChanges: true, assumed: true });
    expect(sink.text('system')).toContain('the template has no "plan" steps');
    const destroy = await plan(
      { plan: [shell('echo "[]" > plan.json')], destroy: [shell('true')] },
      { operation: 'destroy' },
    );
    expect(destroy.result.plan).toMatchObject({
      hasChanges: true,
      assumed: true,
      changes: [{ action: 'delete' }],
      summary: { destroy: 1 },
    });
  });

  it('the apply gets the files that the plan steps put into the directory plan', async () => {
    const executor: CommandExecutor = {
      kind: 'command',
      plan: [
        shell(
          'mkdir -p plan/deep; echo prepared > plan/deep/it; echo \'[{"address":"a","action":"create"}]\' > plan.json',
        ),
      ],
      apply: [shell('cat plan/deep/it plan.json')],
    };
    const { sink } = await runSteps(work.path, executor);
    expect(sink.text('stdout')).toBe('prepared\n[{"address":"a","action":"create"}]\n');
  });

  it('a failing step stops the attempt, and its state is kept', async () => {
    const { result, sink } = await runSteps(work.path, {
      apply: [
        shell('echo \'{"half": true}\' > state.json; exit 3', { name: 'first' }),
        shell('echo never', { name: 'second' }),
      ],
    });
    expect(result).toMatchObject({
      outcome: 'failed',
      reason: 'step_failed',
      exitCode: 3,
      message: 'step "first" ended with exit code 3',
    });
    expect(sink.text()).not.toContain('never');
    expect(sink.states.map(({ content }) => content.toString())).toEqual(['{"half": true}\n']);
  });

  it('steps can open their standard output and error by name', async () => {
    const { result, sink } = await runSteps(work.path, {
      apply: [shell('set -e; echo a | tee /dev/stderr; echo b > /dev/stdout')],
    });
    expect(result).toMatchObject({ outcome: 'succeeded' });
    expect([sink.text('stdout'), sink.text('stderr')]).toEqual(['a\nb\n', 'a\n']);
  });

  it('a missing program is named in the message', async () => {
    const { result } = await runSteps(work.path, { apply: [{ name: 'x', run: ['no-such-program', 'a'] }] });
    expect(result).toMatchObject({
      outcome: 'failed',
      reason: 'step_not_started',
      message: expect.stringContaining(
        '"no-such-program" could not be started: there is no such program, or it is not executable. Sandboxes see',
      ),
    });
  });

  it.each([
    [
      'a command line in one word',
      'echo hello world',
      '"run" is a list with one word in each item: ["echo","hello","world"]',
    ],
    ["the template's own file without ./", 'apply.sh', `To run the template's own file, write "./apply.sh"`],
    ['a file that does not begin with #!', './plain.sh', 'A file that is run must begin with #!'],
    ['a file with Windows line endings', './crlf.sh', 'its first line ends with a carriage return'],
    ['a file that does not exist', './missing.sh', '"./missing.sh" could not be started'],
  ])('the message about a step that runs %s says what to change', async (_, program, hint) => {
    const files = { 'apply.sh': '#!/bin/sh\n', 'plain.sh': 'echo x\n', 'crlf.sh': '#!/bin/sh\r\necho x\r\n' };
    const { result } = await runSteps(work.path, { files, apply: [{ name: 'x', run: [program] }] });
    expect(result).toMatchObject({ reason: 'step_not_started', message: expect.stringContaining(hint) });
  });

  it('a step that exceeds its timeout ends the attempt with step_timeout', async () => {
    const slow = { ...shell('sleep 30', { timeout: '1s' }), name: 'wait' };
    const { result, sink } = await runSteps(work.path, { apply: [slow] });
    const message = 'step "wait" took longer than its timeout of 1 s';
    expect(result).toMatchObject({ outcome: 'timed_out', reason: 'step_timeout', message });
    expect(sink.text('system')).toContain(message);
  });

  it('detect steps find drift without storing state, and fail with plan_missing if they write no plan.json', async () => {
    const detect = (script: string) =>
      run(
        makeRequest({
          workRoot: work.path,
          phase: 'detect',
          executor: { kind: 'command', apply: [], detect: [shell(script)] },
        }),
      );
    const drifted = await detect(
      'echo \'[{"address":"a","action":"update","before":1,"after":2}]\' > plan.json; echo \'{"x":1}\' > state.json',
    );
    expect(drifted.result).toMatchObject({ outcome: 'succeeded', plan: { hasChanges: true } });
    expect(drifted.sink.states).toEqual([]);
    expect((await detect('true')).result).toMatchObject({ outcome: 'failed', reason: 'plan_missing' });
  });

  it('an operation without steps is refused', async () => {
    expect((await plan({}, { operation: 'destroy' })).result).toMatchObject({ reason: 'operation_unsupported' });
    expect((await plan({}, { operation: 'refresh' })).result).toMatchObject({ reason: 'operation_unsupported' });
  });

  it('outputs and states that are not JSON are refused', async () => {
    const outputs = await runSteps(work.path, { apply: [shell('echo "[1" > outputs.json')] });
    expect(outputs.result).toMatchObject({ outcome: 'failed', reason: 'outputs_invalid' });
    const state = await runSteps(work.path, { apply: [shell('echo nope > state.json')] });
    expect(state.result).toMatchObject({ outcome: 'failed', reason: 'state_invalid' });
    expect(state.sink.states).toEqual([]);
  });

  it('a file path that leads out of the work directory is refused', async () => {
    for (const path of ['../escape', '/etc/escape', 'a/../../escape']) {
      const { result } = await plan({ files: { [path]: 'x' } });
      expect(result).toMatchObject({ outcome: 'failed', reason: 'files_invalid' });
    }
  });
});
