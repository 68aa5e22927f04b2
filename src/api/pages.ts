import type { FastifyInstance } from 'fastify';
import { registerAssemblyPages } from '#api/assemblies/pages/register.ts';
import { registerAuditPages } from '#api/audit/pages/register.ts';
import { registerConnectionPages } from '#api/connections/pages/register.ts';
import { registerDriftPages } from '#api/drift/pages/register.ts';
import { registerEnvironmentPages } from '#api/environments/pages/register.ts';
import { registerHelp } from '#api/help/pages.ts';
import { registerHoldPages } from '#api/holds/pages/register.ts';
import { registerStart } from '#api/home/pages.ts';
import { registerEmailConfirmation } from '#api/identity/pages/email-confirmation-page.ts';
import { registerLogin } from '#api/identity/pages/login-pages.ts';
import { registerPasswordReset } from '#api/identity/pages/password-reset-pages.ts';
import { registerProfile } from '#api/identity/pages/profile-pages.ts';
import { registerUserPages } from '#api/identity/pages/register-users.ts';
import { registerInstancePages } from '#api/instances/pages/register.ts';
import { registerInvitationPages } from '#api/invitations/pages/register.ts';
import { registerMemberPages } from '#api/members/pages/register.ts';
import { registerChannelPages } from '#api/notification-channels/pages/register.ts';
import { registerNotificationPages } from '#api/notifications/pages/register.ts';
import { countUnreadForBar } from '#api/notifications/pages/unread-count.ts';
import { registerOrganizationPages } from '#api/organizations/pages/register.ts';
import { registerPluginPages } from '#api/plugins/pages/register.ts';
import { registerProjectPages } from '#api/projects/pages/register.ts';
import { registerQuotaPages } from '#api/quotas/pages/register.ts';
import { registerCatalog } from '#api/registry/pages/register.ts';
import { countApprovals } from '#api/runs/pages/approval-count.ts';
import { registerRuns } from '#api/runs/pages/register.ts';
import { registerSchedulePages } from '#api/schedules/pages/register.ts';
import { findNamed, registerSearch } from '#api/search/pages.ts';
import { registerServiceAccountPages } from '#api/service-accounts/pages/register.ts';
import { registerSettingsPages } from '#api/settings/pages/register.ts';
import { registerTeamSetup } from '#api/team-setup/pages/register.ts';
import { registerTeamPages } from '#api/teams/pages/register.ts';
import { registerUndoPages } from '#api/undo/pages/register.ts';
import { registerVariableSetPages } from '#api/variable-sets/pages/register.ts';
import { registerAssets } from '#api/web/assets.ts';
import type { BarCounts } from '#api/web/frame/read-frame.ts';
import type { PageServices } from '#api/web/visit/operations.ts';
import { type AddPage, pageAdder } from '#api/web/visit/route.ts';
import { leadToPage } from '#api/web/visit/trailing-slash.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { registerWebhookPages } from '#api/webhooks/pages/register.ts';
import { registerWorkerPages } from '#api/workers/pages/register.ts';
import { registerSigningKeyPages } from '#api/workload-identity/pages/register.ts';

/** The areas that have pages. Each adds its own. */
const areas: readonly ((addPage: AddPage) => void)[] = [
  registerStart,
  registerSearch,
  registerHelp,
  registerCatalog,
  registerLogin,
  registerPasswordReset,
  registerEmailConfirmation,
  registerNotificationPages,
  registerProfile,
  registerOrganizationPages,
  registerSettingsPages,
  registerTeamPages,
  registerTeamSetup,
  registerMemberPages,
  registerInvitationPages,
  registerProjectPages,
  registerServiceAccountPages,
  registerUserPages,
  registerAuditPages,
  registerRuns,
  registerUndoPages,
  registerAssemblyPages,
  registerDriftPages,
  registerSchedulePages,
  registerEnvironmentPages,
  registerVariableSetPages,
  registerHoldPages,
  registerInstancePages,
  registerWorkerPages,
  registerQuotaPages,
  registerConnectionPages,
  registerWebhookPages,
  registerPluginPages,
  registerChannelPages,
  registerSigningKeyPages,
];

/** Registers all pages of the service, and the files that they use. */
export async function registerPages(app: FastifyInstance, context: PageServices): Promise<void> {
  await registerAssets(app);
  app.addHook('onRequest', leadToPage);
  const addPage = pageAdder(app, { ...context, countForBar, findNamed });
  for (const register of areas) register(addPage);
}

/** What the bar above every page counts. */
async function countForBar(visit: Visit): Promise<BarCounts> {
  const [approvals, unread] = await Promise.all([countApprovals(visit), countUnreadForBar(visit)]);
  return { approvals, unread };
}
