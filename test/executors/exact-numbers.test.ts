import { afterAll, describe, expect, it } from 'vitest';
import { useTool } from './opentofu/opentofu-support.ts';
import { makeRequest, makeWorkRoot, requireTools, run, runScript, runSteps, shell } from './support.ts';

const tools = await requireTools();
const work = makeWorkRoot();
afterAll(work.remove);

/** The JSON of a response, with every digit. */
const written = (value: unknown) => JSON.stringify(value);

const apply = (script: string) => runSteps(work.path, { apply: [shell(script)] });
const planBy = (script: string) =>
  run(
    makeRequest({
      workRoot: work.path,
      phase: 'plan',
      executor: { kind: 'command', apply: [], plan: [shell(script)] },
    }),
  );

const numbers = ['9007199254740993', '-9007199254740993', '123456789012345678901234567890', '0.12345678901234567891'];

describe('a command template', () => {
  it.each([...numbers, '1e+400', '0.1', '1e+21'])('returns the output %s with all its digits', async (number) => {
    const { result } = await apply(`echo '{"deep":{"n":[${number}]}}' > outputs.json`);
    expect(written(result.outputs)).toBe(`{"deep":{"value":{"n":[${number}]},"sensitive":false}}`);
  });

  it('gets variables with all their digits, in the file and in the environment', async () => {
    const given = await apply(`echo '{"n":9007199254740993}' > outputs.json`);
    const n = given.result.outputs?.['n']?.value ?? null;
    const { sink } = await runScript(
      work.path,
      'cat variables.json; echo " $COORDINATOR_VAR_N $COORDINATOR_VAR_LIST"',
      {
        variables: { n, list: [n] },
      },
    );
    expect(sink.text('stdout')).toBe(
      '{"n":9007199254740993,"list":[9007199254740993]} 9007199254740993 [9007199254740993]\n',
    );
  });

  it('plans a change between numbers that JavaScript rounds to the same number', async () => {
    const entry = '{"address":"a","action":"update","before":{"n":9007199254740993},"after":{"n":9007199254740992}}';
    const { result } = await planBy(`echo '[${entry}]' > plan.json`);
    expect(written(result.plan?.changes[0]?.before)).toBe('{"n":9007199254740993}');
    expect(written(result.plan?.changes[0]?.after)).toBe('{"n":9007199254740992}');
  });

  it.each(['outputs.json', 'state.json'])('fails if an object of %s has a key twice', async (file) => {
    const { result } = await apply(`echo '{"a":{"size":1,"size":2}}' > ${file}`);
    expect(result).toMatchObject({
      outcome: 'failed',
      reason: file === 'outputs.json' ? 'outputs_invalid' : 'state_invalid',
    });
    expect(result.message).toContain('it has the key "size" twice in one object');
  });

  it('fails if an object of plan.json has a key twice', async () => {
    const { result } = await planBy(`echo '[{"address":"a","address":"b","action":"update"}]' > plan.json`);
    expect(result).toMatchObject({ outcome: 'failed', reason: 'plan_invalid' });
    expect(result.message).toContain('it has the key "address" twice in one object');
  });
});

describe.each(tools)('$name $version', ({ name, version }) => {
  const { plan, deploy } = useTool(work.path, { name, version });
  const main = (number: string) =>
    `resource "terraform_data" "n" {\n  input = ${number}\n}\noutput "n" {\n  value = terraform_data.n.output\n}\n`;
  const using = (number: string) =>
    ({ executor: { kind: 'opentofu', files: { 'main.tf': main(number) } }, variables: {} }) as const;

  it.each(numbers)('returns the output %s with all digits, and plans a change of its last digit', async (number) => {
    const { result, state } = await deploy(using(number));
    expect(written(result.outputs)).toBe(`{"n":{"value":${number},"sensitive":false}}`);
    const next = number.replace(/.$/, (digit) => String((Number(digit) + 9) % 10));
    const { plan: planned } = await plan({ ...using(next), state });
    expect(planned.summary.change).toBe(1);
    const [change] = planned.changes;
    expect([written(Object(change?.before).input), written(Object(change?.after).input)]).toEqual(
      [number, next].map((each) => each.replace(/(\..*?)0+$/, '$1')),
    );
  });

  it('gives a number to a variable with all its digits', async () => {
    const { result } = await deploy(using('9007199254740993'));
    const variables = { n: result.outputs?.['n']?.value ?? null };
    const files = { 'main.tf': 'variable "n" { type = number }\noutput "text" {\n  value = "n=${var.n}"\n}\n' };
    const passed = await deploy({ executor: { kind: 'opentofu', files }, variables });
    expect(passed.result.outputs).toEqual({ text: { value: 'n=9007199254740993', sensitive: false } });
  });

  it('returns null as the value of an output that the configuration declares', async () => {
    const main =
      'variable "x" {\n  default = null\n}\noutput "open" {\n  value = var.x\n}\noutput "secret" {\n  value     = var.x\n  sensitive = true\n}\n';
    const executor = { kind: 'opentofu', files: { 'main.tf': main } } as const;
    const { result, state } = await deploy({ executor, variables: {} });
    expect(result.outputs).toEqual({
      open: { value: null, sensitive: false },
      secret: { value: null, sensitive: true },
    });
    const destroyed = await deploy({ executor, variables: {}, state, operation: 'destroy' });
    expect(destroyed.result.outputs).toEqual({});
  });

  it('marks values of a plan that cannot be stored, and applies it', async () => {
    const main =
      'resource "terraform_data" "x" {\n  input = { nul = "a\\u0000", fine = 1 }\n}\noutput "nul" {\n  value = "a\\u0000"\n}\n';
    const using = { executor: { kind: 'opentofu', files: { 'main.tf': main } }, variables: {} } as const;
    const { plan: planned } = await plan(using);
    expect(planned.changes[0]?.after).toMatchObject({
      input: { nul: { unrepresentable: { reason: 'holds a NUL character' } }, fine: 1 },
    });
    const { result, state } = await deploy(using);
    expect(result.outputs).toEqual({ nul: { value: 'a\0', sensitive: false } });
    expect(String(state)).toContain('a\\u0000');
  });
});
