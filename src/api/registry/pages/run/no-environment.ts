import { describePolicy } from '#api/environments/pages/labels.ts';
import { type Html, html } from '#api/web/html.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { TemplateSpec } from '#domain/registry/spec.ts';
import { policyOfRun } from '#domain/runs/admission/build-run.ts';
import { readSettings } from '#domain/settings/store.ts';
import type { ApprovalPolicy } from '#domain/shared/vocabulary/approval.ts';

/** The approval of a run outside any environment. */
export interface ApprovalWithoutEnvironment {
  readonly policy: ApprovalPolicy;
  /** Whether the template demands it. Otherwise, it is the default of the installation. */
  readonly isOfTemplate: boolean;
}

/** Reads the approval that admission demands for a run of this version outside of any environment. */
export async function readApprovalWithoutEnvironment(
  { em }: Visit,
  { approval }: { readonly approval?: unknown },
): Promise<ApprovalWithoutEnvironment> {
  const spec = { approval: approval as TemplateSpec['approval'] };
  const { document } = await readSettings(em);
  return { policy: policyOfRun(spec, null, document), isOfTemplate: approval !== undefined };
}

/** Says what a run without an environment lacks, so that nobody chooses it by accident. Null if the run has an environment. */
export function renderNoEnvironment({
  approvalWithoutEnvironment,
}: {
  readonly approvalWithoutEnvironment: ApprovalWithoutEnvironment | null;
}): Html | null {
  if (!approvalWithoutEnvironment) return null;
  const { policy, isOfTemplate } = approvalWithoutEnvironment;
  const whose = isOfTemplate ? 'the template demands' : 'the installation demands by default';
  return html`<p><strong>This run is outside any environment.</strong> It gets no variables, secrets or connections of an environment, and no approval that an environment demands. Only what ${whose} applies: ${describePolicy(policy)}</p>`;
}
