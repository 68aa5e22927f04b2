import { command } from '#api/pipeline/operation.ts';
import { showAdmittedRun } from '#api/runs/actions.ts';
import { getRun } from '#api/runs/operations.ts';
import { RunView } from '#api/runs/views.ts';
import { admitRemediation, findRemediationTarget } from '#domain/drift/remediation/remediation.ts';
import { admissionOf } from '#domain/runs/admission/repeat.ts';
import { findingAccess } from './access.ts';
import { RemedyFinding } from './bodies.ts';
import { FindingParams } from './finding-operations.ts';

export const remediate = command({
  id: 'drift_findings.remediate',
  route: 'POST /api/v1/drift-findings/:id/remediation',
  summary: 'Remove a deviation by a run, which needs at least one approval',
  description:
    'The run has the version and the inputs of the last deployment. It acts on one piece of evidence: if that is no longer the latest, or the ' +
    'instance has changed since, the answer is 409. A run whose instance changes while it waits ends as `stale`.',
  params: FindingParams,
  body: RemedyFinding,
  responses: { 202: RunView },
  at: getRun,
  access: findingAccess.remediate,
  target: ({ em, params, lock }) => findRemediationTarget(em, params.id, lock),
  targetName: 'drift finding',
  idempotency: 'optional',
  resource: 'runs',
  audit: 'drift_finding.remediation_requested',
  handle: async ({ tx, key, target, body, principal, services, operations }) => {
    const { evidence_id: evidenceId, expected_revision: expectedRevision, direction } = body;
    const request = { evidenceId, expectedRevision, direction };
    const admission = admissionOf(target);
    const admitted = { key: key ?? '', requester: principal };
    const run = await admitRemediation(tx, services.keyRing, target, request, admitted);
    const after = { findingId: target.finding.id, evidenceId, direction };
    const answer = showAdmittedRun({ operations, principal }, admission, run);
    return { id: run.id, after, revision: run.revision, answer };
  },
});
