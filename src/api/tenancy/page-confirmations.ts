/** The confirmations after the forms of a resource that can be archived. */
export function archivingConfirmations(noun: Capitalize<string>) {
  return {
    archived: `${noun} archived.`,
    unarchived: `${noun} unarchived.`,
    saved: 'Changes saved.',
    created: `${noun} created.`,
    transferred: `${noun} transferred.`,
  };
}

/** The confirmations on the pages of an organization and of a team. */
export function levelConfirmations(noun: Capitalize<string>) {
  return {
    ...archivingConfirmations(noun),
    joined: 'You are now a member.',
    'member-set': 'Membership saved.',
    'member-set-limited':
      'Membership saved. The platform role of this member does not let them review runs: who manages users can give them another one.',
    'member-removed': 'Member removed.',
    'invitation-revoked': 'Invitation revoked.',
    'team-deleted': 'Team deleted.',
  };
}

/** Confirms changes to the connections of a project or an environment. */
export const bindingConfirmations = {
  bound: 'Connection bound. New runs get it.',
  unbound: 'Binding removed.',
};
