import { expect } from 'vitest';
import { admitNode } from '#domain/assemblies/runs/nodes/admit-node.ts';
import type { Tenant } from '../access/tenancy.ts';
import type { ApiAnswer, ApiUser, TestApi } from '../api/in-process-api.ts';

/** Assemblies and templates for tests of the API. */

let made = 0;

/** The spec of a template that takes a name and a count, and has an output. */
export const templateSpec = {
  variables: {
    type: 'object',
    additionalProperties: false,
    properties: { name: { type: 'string' }, count: { type: 'integer', minimum: 1 } },
  },
  outputs: { cidr: {} },
  executor: { kind: 'command', apply: [{ name: 'say', run: ['true'] }] },
};

/** Publishes versions of a new template of a team, or of the whole installation. */
export async function addTemplate(
  user: ApiUser,
  { team, slug, versions = ['1.0.0'] }: { team?: string; slug?: string; versions?: string[] } = {},
): Promise<{ id: string; slug: string }> {
  const template = await user.make('/registry/templates', {
    name: `Template ${++made}`,
    slug: slug ?? `template-${made}`,
    ...(team && { team_id: team }),
  });
  for (const version of versions) await publishTemplate(user, template.id, version);
  return { id: template.id, slug: template['slug'] as string };
}

export async function publishTemplate(user: ApiUser, id: string, version: string): Promise<void> {
  const { status, text } = await user.post(`/registry/templates/${id}/versions`, { version, spec: templateSpec });
  expect(status, text).toBe(201);
}

/** Creates an assembly, with a draft if one is given. Answers its path. */
export async function addAssembly(tenant: Pick<Tenant, 'owner' | 'team'>, draft?: unknown): Promise<string> {
  const { id } = await tenant.owner.make('/assemblies', {
    name: `Assembly ${++made}`,
    slug: `assembly-${made}`,
    team_id: tenant.team,
  });
  const path = `/assemblies/${id}`;
  if (draft !== undefined) await saveDraft(tenant.owner, path, draft);
  return path;
}

/** Admits a node whose assembly run nothing drives. */
export function admit({ services }: TestApi, node: string, transactions = services.transactions): Promise<void> {
  const { keyRing, evaluator, installation } = services;
  return admitNode({ transactions, bindingKey: installation.bindingKey, keyRing, evaluator }, node);
}

/** Saves a draft. @throws if the answer is not 200 */
export async function saveDraft(user: ApiUser, path: string, spec: unknown): Promise<ApiAnswer> {
  const answer = await user.put(`${path}/draft`, { spec });
  expect(answer.status, answer.text).toBe(200);
  return answer;
}
