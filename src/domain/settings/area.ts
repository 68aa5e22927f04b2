import { SettingsSchema } from './entity.ts';
import { settingsEvents } from './events.ts';

export const entities = [SettingsSchema] as const;
export const events = settingsEvents;
