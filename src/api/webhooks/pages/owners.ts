import { ownerField, toOwner, visitorOwners } from '#api/tenancy/pages/owner-choice.ts';
import type { FormField } from '#api/web/forms/form.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Action } from '#domain/shared/actions.ts';
import { create } from '../operations.ts';

/** The value of the field that chooses the installation. */
const installation = 'installation';
const ownedByInstallation = { organizationId: null, teamId: null };

const hint = 'The webhook hears what happens to what its owner owns. The owner never changes.';

/** Whether the visitor may make a webhook of the installation, or of an organization or a team that the scope leaves. */
export async function mayCreateWebhook(visit: Visit): Promise<Action> {
  const ofInstallation = visit.mayDo(create, ownedByInstallation);
  return ofInstallation.allowed ? ofInstallation : visit.mayDo(create, ...(await visitorOwners(visit)));
}

/** The field that chooses the owner of a new webhook. Administrators may choose the installation, too. */
export async function webhookOwnerField(visit: Visit): Promise<FormField> {
  const field = await ownerField(visit, hint);
  if (!visit.mayDo(create, ownedByInstallation).allowed) return field;
  const everything = { value: installation, label: 'The installation: it hears everything' };
  return { ...field, choices: [...field.choices, everything] };
}

/** The owner in the body of a creation. */
export async function toWebhookOwner(visit: Visit, typed: Typed): Promise<Record<string, string>> {
  return typed['owner'] === installation ? {} : toOwner(visit, typed);
}
