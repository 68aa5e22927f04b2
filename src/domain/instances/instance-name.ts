import { z } from 'zod';

/** The name of an instance, as it appears in addresses and messages. */
export const InstanceName = z.string().regex(/^[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9])?$/, {
  error: 'expected 1-100 lowercase letters, digits and inner ". _ -", such as "network"',
});
