import { expect, it } from 'vitest';
import { isNotificationKind, isTopic, notificationKindNames, topicNames } from '#domain/news/model.ts';

it('isNotificationKind accepts no name that only topics have, and isTopic none that only kinds of notification have', () => {
  const all = [...new Set<string>([...topicNames, ...notificationKindNames])];
  expect(all.filter(isNotificationKind).sort()).toEqual([...notificationKindNames].sort());
  expect(all.filter(isTopic).sort()).toEqual([...topicNames].sort());
  expect(all.every(isNotificationKind) && all.every(isTopic)).toBe(false);
  expect(['run.exploded', 'constructor', 'toString'].some((name) => isNotificationKind(name) || isTopic(name))).toBe(
    false,
  );
});
