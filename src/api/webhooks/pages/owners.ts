import { ownerOrInstallation } from '#api/tenancy/pages/owner-choice.ts';
import { create } from '../operations.ts';

/** Who may own a new webhook. */
export const webhookOwners = ownerOrInstallation(create, {
  hint: 'The webhook gets the events of what its owner owns. The owner cannot be changed later.',
  installation: 'Installation: all events',
});
