import { pages } from '#api/web/paths.ts';
import type { HostileContent } from '../hostile/hostile-content.ts';
import { longWord } from '../hostile/texts.ts';
import { type DeclaredPage, declare } from './declared-page.ts';

/** The pages that show what hostile people have added. */
export function declareHostile(content: HostileContent): DeclaredPage[] {
  return [
    ...workPages(content),
    ...assemblyPages(content),
    ...driftPages(content),
    ...schedulePages(content),
    ...undoPages(content),
    ...variableSetPages(content),
    ...connectionPages(content),
    ...webhookPages(content),
    ...channelPages(content),
    ...pluginPages(content),
    declare('hostile-notifications', pages.notifications, { query: { show: 'all' } }),
    declare('hostile-notification-thread', pages.notificationThread, { params: { id: content.runs.applied } }),
    ...tenancyPages(content),
  ];
}

function workPages({ runs, instanceId, templateId, teamId }: HostileContent): DeclaredPage[] {
  const scope = { query: { team_id: teamId } };
  const tabs = ['plan', 'log', 'events', 'details'].map((tab) =>
    declare(`hostile-run-${tab}`, pages.run, { params: { id: runs.pending }, query: { tab } }),
  );
  const template = { params: { id: templateId }, who: 'owner' as const };
  return [
    declare('hostile-runs', pages.runs, scope),
    ...Object.entries(runs).map(([key, id]) => declare(`hostile-run-${key}`, pages.run, { params: { id } })),
    ...tabs,
    declare('hostile-run-failed-log', pages.run, { params: { id: runs.failed }, query: { tab: 'log' } }),
    declare('hostile-approvals', pages.approvals, scope),
    declare('hostile-instances', pages.instances, scope),
    declare('hostile-instance', pages.instance, { params: { id: instanceId } }),
    declare('hostile-resources', pages.resources, scope),
    declare('hostile-catalog', pages.catalog, scope),
    declare('hostile-template', pages.template, template),
    declare('hostile-template-edit', pages.editTemplate, template),
    declare('hostile-template-version', pages.templateVersion, { params: { id: templateId, version: '1.0.0' } }),
    declare('hostile-run-form', pages.newRun, template),
    declare('hostile-search', pages.search, { query: { q: `"><script>alert(1)</script>${longWord(60)}` } }),
  ];
}

function assemblyPages({ assembly: { id, runs }, teamId }: HostileContent): DeclaredPage[] {
  const shown = { params: { id }, who: 'owner' as const };
  return [
    declare('hostile-assemblies', pages.assemblies, { query: { team_id: teamId }, who: 'owner' }),
    declare('hostile-assembly', pages.assembly, shown),
    declare('hostile-assembly-versions', pages.assembly, { ...shown, query: { tab: 'versions' } }),
    declare('hostile-assembly-runs', pages.assembly, { ...shown, query: { tab: 'runs' } }),
    declare('hostile-assembly-compare', pages.assembly, {
      ...shown,
      query: { tab: 'compare', from: 'latest', to: 'draft' },
    }),
    declare('hostile-assembly-draft', pages.assemblyDraft, shown),
    declare('hostile-assembly-version', pages.assemblyVersion, { ...shown, params: { id, version: 'latest' } }),
    declare('hostile-assembly-edit', pages.editAssembly, shown),
    declare('hostile-assembly-delete', pages.deleteAssembly, shown),
    declare('hostile-assembly-publish', pages.publishAssembly, shown),
    declare('hostile-assembly-start', pages.runAssembly, shown),
    declare('hostile-assembly-again', pages.runAssembly, { ...shown, query: { from: runs.failed } }),
    declare('hostile-assembly-cancel', pages.cancelAssemblyRun, { ...shown, params: { id, runID: runs.waiting } }),
    declare('hostile-assembly-resume', pages.resumeAssemblyRun, { ...shown, params: { id, runID: runs.failed } }),
    ...Object.entries(runs).flatMap(([key, runID]) =>
      ['nodes', 'details', 'events'].map((tab) =>
        declare(`hostile-assembly-run-${key}-${tab}`, pages.assemblyRun, {
          params: { id, runID },
          query: { tab },
          who: 'owner',
        }),
      ),
    ),
  ];
}

function driftPages({
  drift: { monitor, findings, suppressed },
  teamId,
  environmentId,
}: HostileContent): DeclaredPage[] {
  const who = 'owner' as const;
  const scope = { team_id: teamId };
  const of = { params: { id: monitor }, who };
  const [finding = ''] = findings;
  return [
    declare('hostile-drift', pages.drift, { who, query: { ...scope, status: 'all' } }),
    declare('hostile-drift-monitors', pages.drift, { who, query: { ...scope, tab: 'monitors' } }),
    declare('hostile-drift-monitor', pages.driftMonitor, { ...of, query: { status: 'all' } }),
    declare('hostile-drift-monitor-scans', pages.driftMonitor, { ...of, query: { tab: 'scans' } }),
    declare('hostile-drift-monitor-rules', pages.driftMonitor, { ...of, query: { tab: 'rules' } }),
    declare('hostile-drift-monitor-new', pages.newDriftMonitor, { who, query: { environment_id: environmentId } }),
    declare('hostile-drift-monitor-edit', pages.editDriftMonitor, of),
    declare('hostile-drift-monitor-delete', pages.deleteDriftMonitor, of),
    declare('hostile-drift-ignore-rules', pages.driftIgnoreRules, of),
    ...findings.map((id, at) => declare(`hostile-drift-finding-${at}`, pages.driftFinding, { params: { id }, who })),
    declare('hostile-drift-finding-suppressed', pages.driftFinding, { params: { id: suppressed }, who }),
    declare('hostile-drift-suppress', pages.suppressDriftFinding, { params: { id: finding }, who }),
    declare('hostile-drift-reopen', pages.reopenDriftFinding, { params: { id: suppressed }, who }),
    declare('hostile-drift-remediate', pages.remedyDriftFinding, { params: { id: finding }, who }),
  ];
}

function schedulePages({ schedules, teamId }: HostileContent): DeclaredPage[] {
  const who = 'owner' as const;
  return [
    declare('hostile-schedules', pages.schedules, { who, query: { team_id: teamId } }),
    declare('hostile-schedule-new', pages.newSchedule, { who, query: { team_id: teamId } }),
    ...Object.entries(schedules).flatMap(([key, id]) => [
      declare(`hostile-schedule-${key}`, pages.schedule, { params: { id }, who }),
      declare(`hostile-schedule-${key}-work`, pages.editScheduledWork, { params: { id }, who }),
    ]),
    declare('hostile-schedule-edit', pages.editSchedule, { params: { id: schedules.run }, who }),
    declare('hostile-schedule-trigger', pages.triggerSchedule, { params: { id: schedules.run }, who }),
    declare('hostile-schedule-delete', pages.deleteSchedule, { params: { id: schedules.run }, who }),
  ];
}

function variableSetPages({ variableSetId: id, teamId, environmentId, projectId }: HostileContent): DeclaredPage[] {
  const of = { params: { id }, who: 'owner' as const };
  return [
    declare('hostile-variable-sets', pages.variableSets, { who: 'owner', query: { team_id: teamId } }),
    declare('hostile-variable-sets-of-environment', pages.variableSets, { query: { environment_id: environmentId } }),
    declare('hostile-variable-set', pages.variableSet, of),
    declare('hostile-variable-set-attachments', pages.variableSet, { ...of, query: { tab: 'attachments' } }),
    declare('hostile-variable-set-new', pages.newVariableSet, { who: 'owner', query: { project_id: projectId } }),
    declare('hostile-variable-set-edit', pages.editVariableSet, of),
    declare('hostile-variable-set-attach', pages.attachVariableSet, of),
    declare('hostile-variable-set-delete', pages.deleteVariableSet, of),
    declare('hostile-variable-of-set', pages.variableOfSet, { ...of, params: { id, name: 'structure' } }),
    declare('hostile-environment-variables', pages.environment, {
      params: { id: environmentId },
      query: { tab: 'variables' },
      who: 'owner',
    }),
  ];
}

function connectionPages({ connectionId: id, teamId }: HostileContent): DeclaredPage[] {
  const of = { params: { id }, who: 'owner' as const };
  return [
    declare('hostile-connections', pages.connections, { who: 'owner', query: { team_id: teamId } }),
    declare('hostile-connection', pages.connection, of),
    declare('hostile-connection-rename', pages.renameConnection, of),
    declare('hostile-connection-settings', pages.configureConnection, of),
    declare('hostile-connection-rotate', pages.rotateConnection, of),
    declare('hostile-connection-test', pages.testConnection, of),
    declare('hostile-connection-delete', pages.deleteConnection, of),
  ];
}

function channelPages({ channel: id, teamId }: HostileContent): DeclaredPage[] {
  const of = { params: { id }, who: 'owner' as const };
  return [
    declare('hostile-notification-channels', pages.notificationChannels, { who: 'owner', query: { team_id: teamId } }),
    declare('hostile-notification-channel', pages.notificationChannel, of),
    declare('hostile-notification-channel-new', pages.newNotificationChannel, {
      who: 'owner',
      query: { team_id: teamId },
    }),
    declare('hostile-notification-channel-edit', pages.editNotificationChannel, of),
    declare('hostile-notification-channel-test', pages.testNotificationChannel, of),
    declare('hostile-notification-channel-rotate', pages.rotateNotificationChannel, of),
    declare('hostile-notification-channel-delete', pages.deleteNotificationChannel, of),
    declare('hostile-notification-channel-subscribe', pages.subscribeNotificationChannel, of),
    declare('hostile-notification-channel-unsubscribe', pages.unsubscribeNotificationChannel, {
      params: { id, index: '0' },
      who: 'owner',
    }),
  ];
}

function pluginPages({ plugin: id, pluginResource, teamId }: HostileContent): DeclaredPage[] {
  const tabs = ['actions', 'assignments', 'ceiling', 'principals', 'resources', 'releases'].map((tab) =>
    declare(`hostile-plugin-${tab}`, pages.plugin, { params: { id }, who: 'owner', query: { tab } }),
  );
  const question = { tab: 'assignments', what: 'zone.sync', where: `team:${teamId}` };
  return [
    declare('hostile-plugins', pages.plugins, { who: 'owner', query: { team_id: teamId } }),
    ...tabs,
    declare('hostile-plugin-question', pages.plugin, { params: { id }, who: 'owner', query: question }),
    declare('hostile-plugin-resource', pages.pluginResource, { params: { id: pluginResource }, who: 'owner' }),
  ];
}

function webhookPages({ webhook: { id, delivery: deliveryID }, teamId }: HostileContent): DeclaredPage[] {
  const of = { params: { id }, who: 'owner' as const };
  const delivery = { params: { id, deliveryID }, who: 'owner' as const };
  return [
    declare('hostile-webhooks', pages.webhooks, { who: 'owner', query: { team_id: teamId } }),
    declare('hostile-webhook', pages.webhook, of),
    declare('hostile-webhook-new', pages.newWebhook, { who: 'owner', query: { team_id: teamId } }),
    declare('hostile-webhook-edit', pages.editWebhook, of),
    declare('hostile-webhook-test', pages.testWebhook, of),
    declare('hostile-webhook-rotate', pages.rotateWebhook, of),
    declare('hostile-webhook-delete', pages.deleteWebhook, of),
    declare('hostile-webhook-delivery', pages.webhookDelivery, delivery),
    declare('hostile-webhook-redeliver', pages.redeliverWebhook, delivery),
  ];
}

function undoPages({ undo, runs }: HostileContent): DeclaredPage[] {
  const params = { id: undo.promotable };
  return [
    declare('hostile-undo-run', pages.undoRun, { params: { id: runs.applied } }),
    declare('hostile-undo-blocked', pages.selectiveUndo, { params: { id: undo.blocked } }),
    declare('hostile-undo-promotable', pages.selectiveUndo, { params }),
    declare('hostile-undo-plan', pages.planUndo, { params }),
    declare('hostile-undo-promote', pages.promoteUndo, { params }),
  ];
}

function tenancyPages({
  organizationId: orgID,
  teamId,
  projectId,
  environmentId,
  userId,
}: HostileContent): DeclaredPage[] {
  const owner = { who: 'owner' as const };
  const environment = { params: { id: environmentId }, ...owner };
  return [
    declare('hostile-environments', pages.environments, { query: { team_id: teamId } }),
    declare('hostile-environment', pages.environment, environment),
    declare('hostile-environment-edit', pages.editEnvironment, environment),
    declare('hostile-environment-delete', pages.deleteEnvironment, environment),
    declare('hostile-freeze-windows', pages.freezeWindows, environment),
    declare('hostile-variable', pages.environmentVariable, {
      params: { id: environmentId, name: 'structure' },
      ...owner,
    }),
    declare('hostile-project', pages.project, { params: { id: projectId }, ...owner }),
    declare('hostile-organizations', pages.organizations, owner),
    declare('hostile-organization', pages.organization, { params: { orgID }, ...owner }),
    declare('hostile-organization-members', pages.organizationMembers, { params: { orgID }, ...owner }),
    declare('hostile-team', pages.team, { params: { orgID, id: teamId }, ...owner }),
    declare('hostile-team-members', pages.teamMembers, { params: { orgID, id: teamId }, ...owner }),
    declare('hostile-users', pages.users, { who: 'admin' }),
    declare('hostile-user', pages.user, { params: { id: userId }, who: 'admin' }),
    declare('hostile-audit', pages.audit, { query: { team_id: teamId }, who: 'admin' }),
  ];
}
