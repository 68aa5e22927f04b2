/** Why an instance did not follow what changed, in words for people. A refusal shows the message of its error instead. */
export const followReasons = {
  authority_gone: 'the user or account that it runs as was deleted: have another person save it',
  authority_disabled: 'the user or account that it runs as is disabled: have another person save it',
  key_revoked: 'the API key with which it was saved was revoked: save it with another credential',
  key_expired: 'the API key with which it was saved has expired: save it with another credential',
  owner_changed:
    'the instance came to another team or organization with a transfer: have a person of the new owner save it',
  not_permitted: 'the user or account that it runs as may no longer start runs of it: have a person save it who may',
  loop: 'the change came from a run of this instance itself: instances that follow one another in a circle would never end',
  too_long: 'the change came through too many instances that follow one another',
  too_many: 'more instances follow that change than one change may start runs of: start a run of this one',
  source_ended: 'outputs that it was deployed with may not be read any longer, or what had them is gone',
  not_compared:
    'whether its inputs changed cannot be told: the values that it was given were deleted, or what it reads is too large together; start a run of this one',
  refused: 'the service refused the run',
} as const;
export type FollowReason = keyof typeof followReasons;

const known: Readonly<Record<string, string>> = followReasons;

/** A reason in words; null for a reason of another release. */
export function describeReason(reason: string): string | null {
  return Object.hasOwn(known, reason) ? (known[reason] ?? null) : null;
}

/** Why an instance did not follow the last change. */
export interface FollowFailure {
  readonly reason: FollowReason;
  readonly message: string;
  readonly at: string;
}

/** The reasons after which the instance still follows the next change. */
const passing: readonly FollowReason[] = ['refused', 'too_many', 'source_ended', 'not_compared'];

/** Whether the instance stops following until somebody saves the setting again. */
export function stops({ reason }: Pick<FollowFailure, 'reason'>): boolean {
  return !passing.includes(reason);
}

/** The maximum number of instances that follow one apply. The others show that their inputs changed, and why they did not follow. */
export const maxFollowers = 100;

/** The maximum length of a chain of runs that follow one another. */
export const maxChain = 10;
