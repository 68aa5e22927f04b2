import { command } from '#api/pipeline/operation.ts';
import { showAdmittedRun } from '#api/runs/actions.ts';
import { getRun } from '#api/runs/operations.ts';
import { RunView } from '#api/runs/views.ts';
import { admissionOf } from '#domain/runs/admission/repeat.ts';
import { admitToolSwitch, findSwitchTarget } from '#domain/runs/admission/tool-switch.ts';
import { SwitchTool } from './bodies.ts';
import { accessReview, InstanceParams, readAccess } from './operations.ts';

export const switchTool = command({
  id: 'instances.switch_tool',
  route: 'POST /api/v1/instances/:id/tool-switch',
  summary: 'Switch an instance to another tool, by a run whose plan must change nothing',
  description:
    'The run plans the last deployment with the other tool. If that would change anything, it fails with `switch_not_empty`, and the instance keeps ' +
    'its tool. It needs the approvals that a change needs. The same tool with other versions is possible too.',
  params: InstanceParams,
  body: SwitchTool,
  responses: { 202: RunView },
  at: getRun,
  access: {
    ...readAccess,
    anyOf: ['environment:write'],
    teamAction: 'team.metadata.write',
    installation: 'administrators',
    review: { ...accessReview, verb: 'switch_tool' },
  },
  target: findSwitchTarget,
  targetName: 'instance',
  idempotency: 'optional',
  resource: 'runs',
  audit: 'instance.tool_switch_requested',
  handle: async ({ tx, key, target, body, principal, services, operations }) => {
    const admission = admissionOf(target);
    const admitted = { key: key ?? '', requester: principal };
    const run = await admitToolSwitch(tx, services.keyRing, target, body.tool, admitted);
    const after = { instanceId: target.id, tool: body.tool };
    const answer = showAdmittedRun({ operations, principal }, admission, run);
    return { id: run.id, after, revision: run.revision, answer };
  },
});
