import { ApiKey, ApiKeyUse, PasswordReset, Principal, Session, User } from './identity/entity.ts';
import { Instance, InstanceSlot, StateVersion } from './instances/entity.ts';
import {
  Invitation,
  Organization,
  OrganizationMember,
  OrganizationSlug,
  Team,
  TeamMember,
} from './organizations/entity.ts';
import { Environment, EnvironmentVariable, Project } from './projects/entity.ts';
import { Template, TemplateVersion } from './registry/entity.ts';
import { Run, RunAttempt, RunEvent, RunPlan, RunReview } from './runs/entity.ts';
import { ServiceAccount } from './service-accounts/entity.ts';
import { CommandReceipt, Installation, OutboxRow } from './shared/entity.ts';
import { Worker, WorkerPool } from './workers/entity.ts';

/** Every entity of the service: each area lists its own, and MikroORM knows no others. */
export const entities = [
  ...[Installation, CommandReceipt, OutboxRow],
  ...[Principal, User, ServiceAccount, Session, PasswordReset, ApiKey, ApiKeyUse],
  ...[Organization, OrganizationSlug, OrganizationMember, Team, TeamMember, Invitation],
  ...[Project, Environment, EnvironmentVariable],
  ...[Template, TemplateVersion],
  ...[Instance, InstanceSlot, StateVersion],
  ...[Run, RunAttempt, RunPlan, RunReview, RunEvent],
  ...[Worker, WorkerPool],
];
