import { afterAll, describe, expect, it } from 'vitest';
import { deviationsOf } from '#domain/runs/plans/deviations.ts';
import { makeWorkRoot, requireTools } from '../support.ts';
import { useTool } from './opentofu-support.ts';

const tools = await requireTools();
const work = makeWorkRoot();
afterAll(work.remove);

const requestOf = (main: string, variables = {}) =>
  ({ executor: { kind: 'opentofu', files: { 'main.tf': main } }, variables }) as const;

const perpetual = `
locals { now = timestamp() }
resource "terraform_data" "time" { input = timestamp() }
resource "terraform_data" "tagged" { input = { at = timestamp(), name = "n" } }
resource "terraform_data" "replaced" { triggers_replace = uuid() }
resource "terraform_data" "hashed" { input = bcrypt("x") }
resource "terraform_data" "secret" { input = sensitive(timestamp()) }
resource "terraform_data" "many" {
  count = 2
  input = "\${count.index} \${timestamp()}"
}
resource "terraform_data" "dependent" { input = terraform_data.time.output }
output "time" { value = timestamp() }
`;
const drifting = `
variable "size" { type = number }
resource "terraform_data" "sized" { input = var.size }
resource "terraform_data" "behind" { input = terraform_data.sized.output }
resource "terraform_data" "further" { input = terraform_data.behind.output }
resource "terraform_data" "local" { input = local.now }
`;

describe.each(tools)('a scan by $name $version', ({ name, version }) => {
  const { plan, deploy } = useTool(work.path, { name, version });
  const scan = async (main: string, state: Buffer | null, variables = {}) => {
    const { plan: planned } = await plan({ ...requestOf(main, variables), state, phase: 'detect' });
    return deviationsOf(planned.changes);
  };

  it('marks values that differ at each plan as perpetual, and reports no outputs because of them', async () => {
    const { state } = await deploy(requestOf(perpetual));
    const found = await scan(perpetual, state);
    expect(found.filter(({ path }) => path !== 'output').map(({ address, path }) => `${address} ${path}`)).toEqual([
      'terraform_data.dependent input',
      'terraform_data.hashed input',
      'terraform_data.many[0] input',
      'terraform_data.many[1] input',
      'terraform_data.replaced id',
      'terraform_data.replaced triggers_replace',
      'terraform_data.secret input',
      'terraform_data.tagged input.at',
      'terraform_data.time input',
    ]);
    expect(new Set(found.map(({ expectation }) => expectation))).toEqual(new Set(['perpetual']));
  });

  it('marks a value as unknown, and not as perpetual, if it may depend on another deviation', async () => {
    const { state } = await deploy(requestOf(perpetual + drifting, { size: 3 }));
    const found = await scan(perpetual + drifting, state, { size: 4 });
    const expectationOf = (address: string) =>
      found.find((each) => each.address === `terraform_data.${address}` && each.path === 'input')?.expectation;
    expect(expectationOf('sized')).toBeUndefined();
    expect(['behind', 'further', 'local'].map(expectationOf)).toEqual(['unknown', 'unknown', 'unknown']);
    expect(['time', 'dependent', 'many[1]'].map(expectationOf)).toEqual(['perpetual', 'perpetual', 'perpetual']);
  });
});
