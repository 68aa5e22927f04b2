import { required } from '../answers.ts';
import type { People } from '../people.ts';
import type { SeededTeam, Tenants } from '../tenants.ts';
import { type TemplateKey, type TemplatePlan, templatePlans } from './templates.ts';

export interface SeededVersion {
  readonly id: string;
  readonly version: string;
}

export interface SeededTemplate {
  readonly key: TemplateKey;
  readonly id: string;
  readonly team: SeededTeam | null;
  readonly plan: TemplatePlan;
  /** Oldest first. */
  readonly versions: readonly SeededVersion[];
}
export type Templates = Readonly<Record<TemplateKey, SeededTemplate>>;

/** Publishes every version of every template, as the people who maintain them. */
export async function addTemplates(people: People, { teams }: Tenants): Promise<Templates> {
  const made: [string, SeededTemplate][] = [];
  for (const [key, plan] of Object.entries<TemplatePlan>(templatePlans)) {
    const { name, description, tags, readme = '' } = plan;
    const team = plan.team === null ? null : teams[plan.team];
    const maintainer = people[plan.by];
    const { id } = await maintainer.make('/registry/templates', {
      name,
      description,
      tags,
      readme,
      ...(team && { team_id: team.id }),
    });
    const path = `/registry/templates/${id}`;
    const versions: SeededVersion[] = [];
    for (const [version, changelog] of plan.versions) {
      const published = await maintainer.make(`${path}/versions`, { version, changelog, spec: specOf(plan) });
      versions.push({ id: published.id, version });
    }
    if (plan.yanked) required(await maintainer.post(`${path}/versions/${plan.yanked}/yank`), 200);
    if (plan.isArchived) required(await maintainer.post(`${path}/archive`), 200);
    made.push([key, { key: key as TemplateKey, id, team, plan, versions }]);
  }
  return Object.fromEntries(made) as Templates;
}

function specOf({ variables, outputs, tool, more }: TemplatePlan): object {
  const properties = new Map<string, object>(Object.entries(variables)).get('properties') ?? {};
  const executor = tool === 'opentofu' ? moduleOf(Object.keys(properties), Object.keys(outputs)) : executors[tool];
  return { variables, outputs, executor, ...more };
}

/** A module that declares what its spec names. */
function moduleOf(variables: readonly string[], outputs: readonly string[]): object {
  const declared = variables.map((name) => `variable "${name}" {}\n`).join('\n');
  const shown = outputs.map((name) => `output "${name}" {\n  value = null\n}\n`).join('\n');
  return {
    kind: 'opentofu',
    files: {
      'main.tf': 'terraform {\n  required_version = ">= 1.8"\n}\n\nmodule "this" {\n  source = "./modules/this"\n}\n',
      ...(declared && { 'variables.tf': declared }),
      ...(shown && { 'outputs.tf': shown }),
      'modules/this/main.tf': '# The resources are in this module.\n',
    },
  };
}

const executors = {
  command: {
    kind: 'command',
    plan: [{ name: 'compare', run: ['sh', 'plan.sh'] }],
    apply: [
      { name: 'prepare', run: ['sh', 'prepare.sh'] },
      { name: 'roll out', run: ['sh', 'apply.sh'], timeout: '30m', env: { LC_ALL: 'C' } },
      { name: 'verify', run: ['sh', 'verify.sh'] },
    ],
    destroy: [{ name: 'remove', run: ['sh', 'destroy.sh'] }],
    files: {
      'plan.sh': 'exit 0\n',
      'prepare.sh': 'exit 0\n',
      'apply.sh': 'exit 0\n',
      'verify.sh': 'exit 0\n',
      'destroy.sh': 'exit 0\n',
    },
  },
};
