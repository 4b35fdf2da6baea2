import type { InspectorPanel } from '../shared/development/panels.ts'

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Schedules',
    columns: ['Job', 'Pattern', 'State', 'Next', 'Last run', 'Outcome', 'Error'],
    rows: (services) =>
      services
        .get('cron')
        .jobs()
        .map(({ name, pattern, timezone, state, next, runs: [last] }) => {
          const when = timezone === undefined ? pattern : `${pattern} (${timezone})`
          return [name, when, state, next, last?.startedAt, last?.outcome, last?.error]
        }),
    actions: [
      {
        name: 'Run now',
        async run(services, name) {
          const hasBegun = await services.get('cron').trigger(name)
          return hasBegun
            ? `${name} was started.`
            : `${name} was not started: it is already running, or the service is closing.`
        },
      },
    ],
  },
]
