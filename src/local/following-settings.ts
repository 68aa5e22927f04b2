import { once } from 'node:events';
import { z } from 'zod';

/** A service process with this variable gets further settings from the process that started it, by a message. */
const variable = 'COORDINATOR_SETTINGS_FOLLOW';

const SettingsMessage = z.object({ type: z.literal('settings'), settings: z.record(z.string(), z.string()) });
export type SettingsMessage = z.output<typeof SettingsMessage>;

/** The environment of a process that is to wait for its settings. */
export const settingsFollow: NodeJS.ProcessEnv = { [variable]: 'yes' };

/**
 * Waits for the settings that this process could not be started with, and adds them to its environment. So a service loads its code while
 * the servers that it needs still start. Does nothing in a process whose settings are complete.
 */
export async function receiveSettings(): Promise<void> {
  if (process.env[variable] === undefined) return;
  delete process.env[variable];
  const [message] = await once(process, 'message');
  Object.assign(process.env, SettingsMessage.parse(message).settings);
}
