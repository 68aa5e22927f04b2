import { expect, it } from 'vitest';
import { isNotificationKind, isTopic, notificationKindNames, topicNames } from '#domain/news/model.ts';

it('a name that only topics have is not taken for a kind of notification, and one that only kinds of notification have is not taken for a topic', () => {
  const all = [...new Set<string>([...topicNames, ...notificationKindNames])];
  expect(all.filter(isNotificationKind).sort()).toEqual([...notificationKindNames].sort());
  expect(all.filter(isTopic).sort()).toEqual([...topicNames].sort());
  expect(all.every(isNotificationKind) && all.every(isTopic)).toBe(false);
  expect(['run.exploded', 'constructor', 'toString'].some((name) => isNotificationKind(name) || isTopic(name))).toBe(
    false,
  );
});
