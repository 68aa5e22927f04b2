import { WebhookCursorSchema, WebhookDeliverySchema, WebhookQueueSchema, WebhookSchema } from './entity.ts';
import { webhookKinds } from './ownership.ts';

export const entities = [WebhookSchema, WebhookQueueSchema, WebhookCursorSchema, WebhookDeliverySchema] as const;
export const ownership = webhookKinds;
