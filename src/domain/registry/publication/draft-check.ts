import { readSettings } from '#domain/settings/store.ts';
import { ServiceError } from '#domain/shared/errors.ts';
import type { JsonObject } from '#domain/shared/values/json.ts';
import type { TemplateFiles } from '#domain/sources/files.ts';
import { refuseWeaker } from '../approval/protection.ts';
import type { CheckFinding, SandboxCheck } from '../checks/model.ts';
import { dropCheck } from '../checks/request.ts';
import type { TemplateSpec } from '../spec.ts';
import type { TemplateTarget } from '../store.ts';
import { refuseOtherTools } from '../tools/allowed.ts';
import { filesToolsOf } from '../tools/usable-tools.ts';
import type { VariableError } from '../variables/errors.ts';
import { type Draft, type Publication, prepareVersion } from './publication.ts';

/** A draft as it would be published, and the findings of its check. */
export interface CheckedDraft {
  readonly found: SandboxCheck;
  readonly spec: TemplateSpec;
  readonly files: TemplateFiles;
}

/**
 * The errors and warnings that publication would report for a spec and its files.
 * @param checkVariables finds the errors of a schema
 * @throws as `prepareVersion`
 */
export async function checkDraft(
  target: TemplateTarget,
  draft: Omit<Draft, 'version'>,
  publication: Publication,
  checkVariables: (schema: JsonObject) => Promise<readonly VariableError[]>,
): Promise<CheckedDraft> {
  const { em, principal } = publication;
  const { spec, files, check, requested } = await prepareVersion(target, draft, publication);
  if (requested?.later?.id) await dropCheck(em, requested.later.id);
  const problems = await checkVariables(spec.variables);
  const allowed = (await readSettings(em)).document.allowed_tools;
  const errors = [
    ...problems.map(({ path, message }) => ({ path: `/variables${path}`, message })),
    ...check.errors,
    ...(await findRefusal('/executor', async () => refuseOtherTools(allowed, spec, filesToolsOf(spec, files)))),
    ...(await findRefusal('/approval', () => refuseWeaker(em, target, spec, principal))),
  ];
  const { state = 'not_done', tool = null, notChecked = [] } = requested?.result ?? {};
  const found = {
    state: errors.length > 0 ? ('failed' as const) : state,
    tool,
    errors,
    warnings: [...check.warnings, ...(requested?.result.warnings ?? [])],
    notChecked,
  };
  return { found, spec, files };
}

/** The finding of a rule that refuses the draft; empty if the rule passes. */
async function findRefusal(path: string, rule: () => Promise<unknown>): Promise<CheckFinding[]> {
  try {
    await rule();
    return [];
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind === 'unavailable') throw error;
    return [{ path, message: error.message }];
  }
}
