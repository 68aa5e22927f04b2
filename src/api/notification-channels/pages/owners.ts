import { ownerOrInstallation } from '#api/tenancy/pages/owner-choice.ts';
import { create } from '../operations.ts';

/** The possible owners of a new channel. */
export const channelOwners = ownerOrInstallation(create, {
  hint: 'The channel gets the events of what its owner owns. The owner cannot be changed later.',
  installation: 'Installation: all events',
});
