import { z } from 'zod';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import { describeToChannels, subjectKinds, topicNames } from '#domain/news/model.ts';
import { channelMessageType, channelTest } from '#domain/news/topics.ts';

/** A message that the service sends to a channel of the kind `webhook`. */
export interface ChannelMessage {
  readonly type: string;
  readonly summary: string;
  readonly payload: z.ZodObject;
}

const Url = z
  .string()
  .nullable()
  .describe('The page of what it is about; null: the installation has no address for links.');

/** The messages of channels, by type: a notification of each topic, and the test. */
export function channelMessages(): ChannelMessage[] {
  const notifications = topicNames.map((topic) => {
    const type = channelMessageType(topic);
    return {
      type,
      summary: `A notification channel tells: ${describeToChannels(topic)}`,
      payload: payloadOf(type, Subject),
    };
  });
  const test = {
    type: channelTest,
    summary: 'A test of a notification channel',
    payload: payloadOf(channelTest, z.null()),
  };
  return [...notifications, test];
}

const Subject = z.object({ kind: z.enum(subjectKinds), id: AnswerId }).describe('What it is about.');

function payloadOf(type: string, subject: z.ZodType): z.ZodObject {
  return z.strictObject({
    type: z.literal(type),
    timestamp: Time,
    data: z.strictObject({
      title: z.string().describe('What has happened, in one line.'),
      text: z.string().describe('The same in whole sentences for people, one a line. Their wording may change.'),
      subject,
      url: Url,
    }),
  });
}
