import type { Em } from '#database/database.ts';
import { canRunIn, type PlanSecretsDemand } from '#domain/environments/model.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Archivable } from '#domain/shared/archiving.ts';
import type { ApprovalPolicy } from '#domain/shared/vocabulary/approval.ts';
import { allowedOptions, type RunOptionName, runOptionNames } from '#domain/shared/vocabulary/run-options.ts';
import type { WantedTool } from '#domain/tools/model.ts';
import { findTargetInEnvironment, findTargetOfTemplate, type TargetRow } from './target-store.ts';

/** The target of a run: a template, the environment if the request names one, and their owners. */
export interface AdmissionTarget extends Ownership, Archivable {
  readonly templateId: string;
  readonly templateSlug: string;
  readonly projectId: string | null;
  readonly environmentId: string | null;
  /** The policy of the environment; null without one. */
  readonly approval: ApprovalPolicy | null;
  /** The options that its runs may use. */
  readonly allowedOptions: readonly RunOptionName[];
  /** Which secrets planning may get; null: the same as applying. */
  readonly planSecrets: PlanSecretsDemand | null;
  /** The tool that the environment demands; null: none. */
  readonly tool: WantedTool | null;
}

/**
 * Finds template and environment. With `lock` it shares their rows and their owners' rows, so that none is archived before the commit.
 * Undefined if either is missing, or if they belong to different teams: the caller must not be able to tell these cases apart.
 */
export async function findAdmissionTarget(
  em: Em,
  { templateId, environmentId }: { templateId: string; environmentId?: string | undefined },
  lock: boolean,
): Promise<AdmissionTarget | undefined> {
  const row =
    environmentId === undefined
      ? await findTargetOfTemplate(em, templateId, lock)
      : await findTargetInEnvironment(em, { templateId, environmentId }, lock);
  return row && toTarget(row);
}

/** The levels that a run needs to be active, outermost first. */
export const archivedLevels = ['organization', 'team', 'project', 'environment', 'template'] as const;

/** Undefined if template and environment belong to different teams. */
export function toTarget(row: TargetRow): AdmissionTarget | undefined {
  if (!canRunIn(row.templateTeamId, row.teamId)) return undefined;
  return {
    organizationId: row.organizationId ?? null,
    teamId: row.teamId ?? null,
    templateId: row.templateId,
    templateSlug: row.templateSlug,
    projectId: row.projectId ?? null,
    environmentId: row.environmentId ?? null,
    approval: row.approval ?? null,
    allowedOptions: row.environmentKind
      ? allowedOptions({ kind: row.environmentKind, allowedOptions: row.environmentOptions ?? null })
      : runOptionNames,
    planSecrets: row.planSecrets ?? null,
    tool: row.tool ?? null,
    archived: archivedLevels.filter((level) => row[`${level}Archived`]),
  };
}
