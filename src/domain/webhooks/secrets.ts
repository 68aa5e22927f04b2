import { signingSecrets } from '#domain/shared/signing/signing-secrets.ts';

/** The secrets that sign the requests to webhooks. */
export const webhookSecrets = signingSecrets('webhook-secret');
