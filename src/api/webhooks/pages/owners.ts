import { ownerOrInstallation } from '#api/tenancy/pages/owner-choice.ts';
import { create } from '../operations.ts';

/** Who may own a new webhook. */
export const webhookOwners = ownerOrInstallation(create, {
  hint: 'The webhook hears what happens to what its owner owns. The owner never changes.',
  installation: 'The installation: it hears everything',
});
