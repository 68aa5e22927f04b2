import { expect } from 'vitest';
import type { Caller } from './api/caller.ts';

/** Publishes version 1.0.0 of a new template of the installation, or of a team. Returns the template's id. */
export async function publish(caller: Caller, slug: string, spec: object, teamId?: string): Promise<string> {
  const template = await caller.post('/registry/templates', { name: slug, slug, ...(teamId && { team_id: teamId }) });
  expect(template.status, template.text).toBe(201);
  await publishVersion(caller, template.body.id, '1.0.0', spec);
  return template.body.id;
}

export async function publishVersion(caller: Caller, templateId: string, version: string, spec: object): Promise<void> {
  const answer = await caller.post(`/registry/templates/${templateId}/versions`, { version, spec });
  expect(answer.status, answer.text).toBe(201);
}

/** Requests a run and waits until it has ended, or has one of the statuses. Returns the run. */
export async function runToEnd(
  caller: Caller,
  request: object,
  statuses = ['succeeded', 'failed', 'canceled', 'timed_out'],
) {
  const admitted = await caller.post('/runs', request);
  expect(admitted.status, admitted.text).toBe(202);
  return caller.awaitRun(admitted.body.id, statuses);
}

/** The spec of a command template with these apply steps. */
export function commands(apply: Record<string, string>, rest: object = {}) {
  const steps = Object.entries(apply).map(([name, script]) => ({ name, run: ['sh', '-c', script] }));
  return { executor: { kind: 'command', apply: steps, ...rest } };
}

/** The spec of an OpenTofu template that downloads no provider. */
export const network = {
  variables: {
    type: 'object',
    properties: { cidr: { type: 'string', default: '10.0.0.0/16' }, token: { type: 'string', writeOnly: true } },
  },
  outputs: { cidr: {}, token: { sensitive: true } },
  executor: {
    kind: 'opentofu',
    files: {
      'main.tf': `
variable "cidr" { type = string }
variable "token" {
  type      = string
  sensitive = true
  default   = "unset"
}
resource "terraform_data" "network" { input = var.cidr }
resource "terraform_data" "subnet" {
  count = 2
  input = "\${var.cidr}-\${count.index}"
}
output "cidr" { value = terraform_data.network.output }
output "token" {
  value     = var.token
  sensitive = true
}
`,
    },
  },
};
