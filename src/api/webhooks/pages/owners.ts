import { ownerOrInstallation } from '#api/tenancy/pages/owner-choice.ts';
import type { FormField } from '#api/web/forms/form-field.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Action } from '#domain/shared/actions.ts';
import { create } from '../operations.ts';

const hint = 'The webhook hears what happens to what its owner owns. The owner never changes.';

export function mayCreateWebhook(visit: Visit): Promise<Action> {
  return ownerOrInstallation.mayCreate(visit, create);
}

export function webhookOwnerField(visit: Visit): Promise<FormField> {
  return ownerOrInstallation.field(visit, create, hint, 'The installation: it hears everything');
}
