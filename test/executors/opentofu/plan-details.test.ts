import { afterAll, describe, expect, it } from 'vitest';
import { makeWorkRoot, requireTools } from '../support.ts';
import { useTool } from './opentofu-support.ts';

const tools = await requireTools();
const work = makeWorkRoot();
afterAll(work.remove);

const files = (main: string) => ({ executor: { kind: 'opentofu', files: { 'main.tf': main } } }) as const;
const secret = 'a-secret-that-nobody-sees';
const variables = { token: secret };
const token = 'variable "token" {\n  type = string\n  sensitive = true\n}\n';
const thing = (name: string, body = '') => `resource "terraform_data" "${name}" {\n${body}\n}\n`;

describe.each(tools)('a plan by $name $version', ({ name, version }) => {
  const { plan, deploy } = useTool(work.path, { name, version });

  it('shows a resource of a removed block as forgotten, and does not count it as destroyed', async () => {
    const { state } = await deploy({ ...files(thing('kept') + thing('gone')), variables: {} });
    const removed = 'removed {\n  from = terraform_data.gone\n  lifecycle {\n    destroy = false\n  }\n}\n';
    const { plan: planned } = await plan({ ...files(thing('kept') + removed), variables: {}, state });
    expect(planned).toMatchObject({ hasChanges: true, summary: { destroy: 0, change: 0, forget: 1 } });
    expect(planned.changes).toMatchObject([{ address: 'terraform_data.gone', action: 'forget', after: null }]);
  });

  it('shows resources that are only moved or imported, and counts them separately', async () => {
    const { state } = await deploy({ ...files(thing('old')), variables: {} });
    const moved = 'moved {\n  from = terraform_data.old\n  to = terraform_data.new\n}\n';
    const adopted = `import {\n  to = terraform_data.adopted\n  id = "i-4711"\n}\n${thing('adopted')}`;
    const { plan: planned } = await plan({ ...files(thing('new') + moved + adopted), variables: {}, state });
    expect(planned).toMatchObject({ hasChanges: true, summary: { add: 0, destroy: 0, move: 1, import: 1 } });
    expect(planned.changes).toMatchObject([
      { address: 'terraform_data.adopted', imported: { id: 'i-4711' } },
      { address: 'terraform_data.new', action: 'no-op', previousAddress: 'terraform_data.old' },
    ]);
  });

  it('says why a resource is replaced, what is known only afterwards, and which secret values change', async () => {
    const body = (trigger: string, input: string) =>
      files(
        token + thing('machine', `triggers_replace = [${trigger}]\ninput = { token = var.token, size = ${input} }`),
      );
    const { state } = await deploy({ ...body('1', '1'), variables });
    const replaced = await plan({ ...body('2', '1'), variables, state });
    expect(replaced.plan.summary).toMatchObject({ add: 1, destroy: 1, replace: 1 });
    const [change] = replaced.plan.changes;
    expect(change).toMatchObject({
      type: 'terraform_data',
      action: 'replace',
      actionReason: 'replace_because_cannot_update',
      replacePaths: [['triggers_replace']],
    });
    expect(change?.unknownPaths).toEqual(expect.arrayContaining([['id'], ['output']]));
    expect(change?.sensitivePaths).toContainEqual({ path: ['input', 'token'], changed: false });
    const other = await plan({ ...body('1', '1'), variables: { token: `${secret}-2` }, state });
    expect(other.plan.changes[0]?.sensitivePaths).toContainEqual({ path: ['input', 'token'], changed: true });
    for (const each of [replaced, other]) expect(JSON.stringify(each.plan.changes)).not.toContain(secret);
  });

  it('hides a secret in the names of a plan, as in its values', async () => {
    const named = files(`${token}${thing('map', 'input = { (nonsensitive(var.token)) = timestamp() }')}`);
    const { plan: planned } = await plan({ ...named, variables, sensitiveVariables: ['token'] });
    expect(planned.changes[0]?.unknownPaths?.length).toBeGreaterThan(0);
    expect(JSON.stringify(planned.changes)).not.toContain(secret);
  });
});
