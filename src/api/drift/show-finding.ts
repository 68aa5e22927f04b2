import type { z } from 'zod';
import type { ActionContext } from '#api/pipeline/actions.ts';
import type { Em } from '#database/database.ts';
import type { FindingTarget } from '#domain/drift/findings/finding-target.ts';
import { readFinding } from '#domain/drift/findings/list-store.ts';
import { findRemediationTarget, readEvidenceFacts } from '#domain/drift/remediation/remediation.ts';
import { targetIsGone } from '#domain/runs/admission/rules.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { findingActions } from './actions.ts';
import { type FindingView, toFinding } from './views.ts';

/** Shows one finding, and what the caller may do with it. */
export async function showFinding(
  { em, ...context }: ActionContext & { readonly em: Em },
  { finding, organizationId, teamId, archived }: FindingTarget,
): Promise<z.output<typeof FindingView>> {
  const details = await readFinding(em, finding.id);
  if (!details) throw new NotFound('drift finding');
  const evidenceFacts = await readEvidenceFacts(em, finding, details.evidence.id);
  const target = await findRemediationTarget(em, finding.id, false);
  const admissionRefusal = target?.admission ? findArchivedRefusal(target.admission) : targetIsGone;
  const owned = { ...details, organizationId, teamId, archived, evidenceFacts, admissionRefusal };
  const { directions } = evidenceFacts;
  return {
    ...toFinding(details),
    remediation_directions: [...directions],
    actions: findingActions.describe(context, owned),
  };
}
