/** The instance has other owners than when it was set to follow. */
export class OwnerChanged extends Error {}

/** The instance changed after its upstream change was read, so it must be read again. */
export class FollowMoved extends Error {}
