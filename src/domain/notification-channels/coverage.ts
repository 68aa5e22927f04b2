import { topicNames } from '#domain/news/model.ts';
import { matchesTopic } from '#domain/news/topics.ts';
import type { Subscription } from './model.ts';

/** A subscription with the team of its place, which is also the team of its environment. Null: the subscription names no place. */
export interface PlacedSubscription extends Subscription {
  readonly placeTeamId: string | null;
}

/**
 * The index of another subscription that covers everything that this one matches, so that this one has no effect. Null: no other
 * subscription covers it. If two match the same, the first one covers the other.
 */
export function findCovering(all: readonly PlacedSubscription[], index: number): number | null {
  const covered = all[index];
  if (!covered) return null;
  const found = all.findIndex(
    (other, at) => at !== index && covers(other, covered) && (at < index || !covers(covered, other)),
  );
  return found === -1 ? null : found;
}

function covers(wide: PlacedSubscription, narrow: PlacedSubscription): boolean {
  return isWithin(narrow, wide) && topicsOf(narrow).every((topic) => topicsOf(wide).includes(topic));
}

function isWithin(narrow: PlacedSubscription, wide: PlacedSubscription): boolean {
  if (wide.environmentId !== null) return narrow.environmentId === wide.environmentId;
  return wide.teamId === null || narrow.placeTeamId === wide.teamId;
}

function topicsOf({ events }: Subscription): string[] {
  return topicNames.filter((topic) => events.some((pattern) => matchesTopic(pattern, topic)));
}
