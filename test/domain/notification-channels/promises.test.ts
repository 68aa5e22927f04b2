import { expect, test } from 'vitest';
import { topicNames } from '#domain/news/model.ts';
import { matchesTopic } from '#domain/news/topics.ts';
import { maxChannels } from '#domain/notification-channels/channel-changes.ts';
import { maxRecipients } from '#domain/notification-channels/model.ts';
import { docsText } from '#test/support/stated-in-docs.ts';

test.each([
  ['*', 'run.finished', true],
  ['run.*', 'run.finished', true],
  ['run.*', 'runner.added', false],
  ['run.*', 'run', false],
  ['run.finished', 'run.finished', true],
  ['run.finished', 'run.finished_late', false],
  ['drift.*', 'drift_monitor.drifted', false],
])('the pattern %s matches the event %s: %s', (pattern, topic, expected) => {
  expect(matchesTopic(pattern, topic)).toBe(expected);
});

test.each(topicNames)('the patterns "*", "<area>.*" and the name itself match the topic %s', (topic) => {
  const area = `${topic.split('.')[0]}.*`;
  expect(['*', area, topic].map((pattern) => matchesTopic(pattern, topic))).toEqual([true, true, true]);
});

test.each([
  `a mail to each of \`config.recipients\`, ${maxRecipients} at most`,
  `An owner has at most ${maxChannels} channels`,
])('docs/notifications.md says "%s"', (sentence) => {
  expect(docsText('notifications')).toContain(sentence);
});
