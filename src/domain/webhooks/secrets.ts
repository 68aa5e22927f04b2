import { signingSecrets } from '#domain/shared/signing/signing-secrets.ts';

/** The secrets by which webhooks sign. */
export const webhookSecrets = signingSecrets('webhook-secret');
