/** The instance has come to other owners than those for whom it was let to follow. */
export class OwnerChanged extends Error {}

/** The instance moved after its change was read. It is read again. */
export class FollowMoved extends Error {}
