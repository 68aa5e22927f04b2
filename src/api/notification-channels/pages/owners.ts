import { ownerOrInstallation } from '#api/tenancy/pages/owner-choice.ts';
import { create } from '../operations.ts';

/** Who may own a new channel. */
export const channelOwners = ownerOrInstallation(create, {
  hint: 'The channel hears of what its owner owns. The owner never changes.',
  installation: 'The installation: it hears of everything',
});
