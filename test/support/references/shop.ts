import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { ReadingStage } from './reading-stage.ts';

/** A template with secrets, and environments in which somebody has deployed it. */

const step = (name: string) => [{ name, run: ['true'] }];
const executor = { kind: 'command', apply: step('go'), destroy: step('no') };
const secret = { type: 'string', writeOnly: true };
const variables = { name: { type: 'string' }, colour: { type: 'string' }, api_key: secret, token: secret };
const specOf = (properties: object) => ({ variables: { type: 'object', properties, required: ['name'] }, executor });

/** Publishes versions 1.0.0 and 2.0.0. The second one has another variable. */
export async function publishShop({ api, steps }: ReadingStage): Promise<string> {
  const template = await steps.publish(specOf(variables));
  const spec = specOf({ ...variables, size: { type: 'integer', default: 3 } });
  const admin = await api.addUser('admin');
  await admin.make(`/registry/templates/${template}/versions`, { version: '2.0.0', spec });
  return template;
}

/** A new environment in which the owner of the team has deployed variables. `runner` runs what starts from them. */
export async function deployShop(stage: ReadingStage, template: string, deployed: object, runner = stage.tenant.owner) {
  const { owner, project } = stage.tenant;
  const name = `Place ${randomUUID().slice(0, 8)}`;
  const { id: place } = await owner.make('/environments', { project_id: project, name, kind: 'development' });
  const at = { template_id: template, environment_id: place, instance: 'shop' };
  const give = async (variable: string, value: string, category = 'template', sensitive = true) => {
    const path = `/environments/${place}/variables/${variable}`;
    const { status, text } = await owner.put(path, { value, category, sensitive });
    expect(status, text).toBeLessThan(300);
  };
  const run = (given: object = {}, rest: object = {}, caller = runner) =>
    stage.ask(given, { ...at, version: '1.0.0', variables_from: 'deployed', ...rest }, caller);
  const deploy = async (given: object, rest: object = {}, caller = owner) => {
    const { body, status, text } = await stage.ask(given, { ...at, version: '1.0.0', ...rest }, caller);
    expect(status, text).toBe(202);
    await stage.finish(body.id);
    return body;
  };
  return { at, place, give, run, deploy, first: await deploy(deployed) };
}
