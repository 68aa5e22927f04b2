import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { ApiAnswer } from '../api/in-process-api.ts';
import { sayHello } from './people.ts';
import type { Tenant } from './tenancy.ts';

/** A fresh idempotency key, which deletions demand. */
export const withKey = (key: string = randomUUID()) => ({ 'idempotency-key': key });

/** The paths of a tenant's levels, innermost first. */
export const levelsOf = (tenant: Tenant) => [
  `/environments/${tenant.environment}`,
  `/projects/${tenant.project}`,
  tenant.teamPath,
  `/organizations/${tenant.organization}`,
];

/** Deletes every level of a tenant. */
export async function deleteTenant(tenant: Tenant): Promise<void> {
  for (const path of levelsOf(tenant)) {
    const answer = await tenant.owner.delete(path, withKey());
    expect(answer.status, answer.text).toBe(204);
  }
}

/** Publishes a template of the tenant's team and admits a run of it. */
export async function admitRun(tenant: Tenant): Promise<{ template: string; run: ApiAnswer }> {
  const template = await tenant.owner.make('/registry/templates', { name: 'Greeter', team_id: tenant.team });
  await tenant.owner.make(`/registry/templates/${template.id}/versions`, { version: '1.0.0', spec: sayHello });
  const run = await tenant.owner.post('/runs', { template_id: template.id, environment_id: tenant.environment });
  expect(run.status, run.text).toBe(202);
  return { template: template.id, run };
}
