import type { EntitySchemaWithMeta } from '@mikro-orm/core';
import type { TableOf } from '#database/tables.ts';
import { EnvironmentSchema, EnvironmentVariableSchema } from '#domain/environments/entity.ts';
import { InvitationSchema } from '#domain/invitations/entity.ts';
import { OrganizationMemberSchema, TeamMemberSchema } from '#domain/members/entity.ts';
import { OrganizationSchema, OrganizationSlugSchema } from '#domain/organizations/entity.ts';
import { ProjectSchema } from '#domain/projects/entity.ts';
import { TeamSchema } from '#domain/teams/entity.ts';
import { AssemblyNodeSchema, AssemblyRunSchema, AssemblySchema, AssemblyVersionSchema } from './assemblies/entity.ts';
import { AuditSealSchema } from './audit/chain/entity.ts';
import { AuditRecordSchema } from './audit/entity.ts';
import { ConnectionBindingSchema } from './connections/bindings/entity.ts';
import { ConnectionSchema } from './connections/entity.ts';
import { DriftEvidenceSchema, DriftFindingSchema, DriftMonitorSchema, DriftScanSchema } from './drift/entity.ts';
import { InstanceFollowSchema } from './following/entity.ts';
import {
  ApiKeySchema,
  ApiKeyUseSchema,
  EmailConfirmationSchema,
  PasswordResetSchema,
  PrincipalRecordSchema,
  SessionSchema,
  UserSchema,
} from './identity/entity.ts';
import { InstanceResourceSchema, InstanceSchema, InstanceSlotSchema, StateVersionSchema } from './instances/entity.ts';
import { FailingDestinationSchema, OutgoingMessageSchema } from './messages/entity.ts';
import { ChannelSubscriptionSchema, NotificationChannelSchema } from './notification-channels/entity.ts';
import {
  NotificationCursorSchema,
  NotificationPreferenceSchema,
  NotificationSchema,
  UserChatSchema,
} from './notifications/entity.ts';
import {
  PluginActionGrantSchema,
  PluginActionSchema,
  PluginBackgroundPrincipalSchema,
  PluginCeilingSchema,
  PluginInstallationSchema,
  PluginReleaseSchema,
  PluginResourceSchema,
  PluginRestorationSchema,
} from './plugins/entity.ts';
import { InstanceUsageSchema, QuotaCrossingSchema, QuotaSchema } from './quotas/entity.ts';
import { TemplateCheckSchema } from './registry/checks/entity.ts';
import { TemplateSchema, TemplateSecretOutputSchema, TemplateVersionSchema } from './registry/entity.ts';
import { VersionModulesSchema } from './registry/kept-modules/entity.ts';
import { RunReviewSchema } from './runs/approval/entity.ts';
import { RunCommentSchema } from './runs/comments/entity.ts';
import { RunDebugLogSchema } from './runs/debug-logs/entity.ts';
import { RunAttemptSchema, RunSchema } from './runs/entity.ts';
import { RunLogChunkSchema } from './runs/log/entity.ts';
import { RunPlanSchema } from './runs/plans/entity.ts';
import { ScheduleFiringSchema, ScheduleSchema } from './schedules/entity.ts';
import { ServiceAccountSchema } from './service-accounts/entity.ts';
import { SettingsSchema } from './settings/entity.ts';
import { CommandReceiptSchema, EndedEligibilitySchema, InstallationSchema } from './shared/entity.ts';
import { DomainEventSchema, EventNumberSchema, OutboxRowSchema } from './shared/events/entity.ts';
import { RateCountSchema } from './shared/rate-counts/entity.ts';
import { CandidateCheckSchema, UndoAttemptSchema } from './undo/entity.ts';
import { VariableSetAttachmentSchema, VariableSetSchema, VariableSetVariableSchema } from './variable-sets/entity.ts';
import { WebhookCursorSchema, WebhookDeliverySchema, WebhookQueueSchema, WebhookSchema } from './webhooks/entity.ts';
import { WorkerPoolSchema, WorkerSchema } from './workers/entity.ts';
import { SigningKeySchema } from './workload-identity/entity.ts';

/** Every entity of the service. A new area adds its own here and nowhere else. */
export const entities = [
  AuditRecordSchema,
  AuditSealSchema,
  InstallationSchema,
  SettingsSchema,
  CommandReceiptSchema,
  DomainEventSchema,
  EventNumberSchema,
  OutboxRowSchema,
  RateCountSchema,
  PrincipalRecordSchema,
  UserSchema,
  ServiceAccountSchema,
  SessionSchema,
  PasswordResetSchema,
  EmailConfirmationSchema,
  ApiKeySchema,
  ApiKeyUseSchema,
  OrganizationSchema,
  OrganizationSlugSchema,
  OrganizationMemberSchema,
  TeamSchema,
  TeamMemberSchema,
  InvitationSchema,
  ProjectSchema,
  VariableSetSchema,
  VariableSetVariableSchema,
  VariableSetAttachmentSchema,
  EnvironmentSchema,
  EnvironmentVariableSchema,
  TemplateSchema,
  TemplateVersionSchema,
  TemplateSecretOutputSchema,
  TemplateCheckSchema,
  VersionModulesSchema,
  InstanceSchema,
  InstanceSlotSchema,
  InstanceFollowSchema,
  StateVersionSchema,
  InstanceResourceSchema,
  RunSchema,
  RunAttemptSchema,
  RunPlanSchema,
  RunDebugLogSchema,
  ScheduleSchema,
  ScheduleFiringSchema,
  RunReviewSchema,
  RunCommentSchema,
  RunLogChunkSchema,
  AssemblySchema,
  AssemblyVersionSchema,
  AssemblyRunSchema,
  AssemblyNodeSchema,
  DriftMonitorSchema,
  DriftScanSchema,
  DriftFindingSchema,
  DriftEvidenceSchema,
  WorkerSchema,
  WorkerPoolSchema,
  UndoAttemptSchema,
  CandidateCheckSchema,
  ConnectionSchema,
  ConnectionBindingSchema,
  QuotaSchema,
  QuotaCrossingSchema,
  InstanceUsageSchema,
  WebhookSchema,
  WebhookQueueSchema,
  WebhookCursorSchema,
  WebhookDeliverySchema,
  NotificationSchema,
  NotificationPreferenceSchema,
  NotificationCursorSchema,
  UserChatSchema,
  NotificationChannelSchema,
  ChannelSubscriptionSchema,
  FailingDestinationSchema,
  OutgoingMessageSchema,
  PluginInstallationSchema,
  PluginReleaseSchema,
  PluginActionSchema,
  PluginCeilingSchema,
  PluginBackgroundPrincipalSchema,
  PluginActionGrantSchema,
  PluginResourceSchema,
  PluginRestorationSchema,
  SigningKeySchema,
  EndedEligibilitySchema,
] as const;

type Schema = (typeof entities)[number];

/** Every table with the types of its columns, for Kysely. */
export type Tables = { [Each in Schema as TableName<Each>]: TableOf<Each> };

type TableName<Each> = Each extends EntitySchemaWithMeta<string, infer Name> ? Name : never;
