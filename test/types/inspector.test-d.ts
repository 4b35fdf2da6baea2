import { definePlugin, Server } from 'framework'
import { type InspectorPanel, workKind } from 'framework/kernel'

const development = process.env.NODE_ENV !== 'production'
new Server({ plugins: { inspector: development } })
new Server({ plugins: { inspector: { path: '/look', keep: 10, bodyLimit: '1kb', redact: ['iban'] } } })
// @ts-expect-error
new Server({ plugins: { inspector: { bodylimit: 5 } } })

const panel: InspectorPanel = {
  title: 'Jobs',
  columns: ['Job', 'Next'],
  rows: (services, limit) =>
    services
      .get('cron')
      .jobs()
      .slice(0, limit)
      .map(({ name, next }) => ({ id: name, cells: [name, next] })),
  actions: [{ name: 'Run', run: (services, id) => services.get('cron').trigger(id) }],
}
definePlugin({ name: 'one', inspector: () => [panel] })
definePlugin({ name: 'two', inspector: async () => [panel] })
definePlugin({
  name: 'three',
  // @ts-expect-error a row has an id
  inspector: () => [{ title: 'Wrong', columns: ['One'], rows: () => [{ cells: [1] }] }],
})

definePlugin({ name: 'four', inspector: () => [{ ...panel, charts: true }] })
// @ts-expect-error a panel has charts, or none
definePlugin({ name: 'five', inspector: () => [{ ...panel, charts: 'bytes' }] })

const job = { channel: 'job', list: { id: 'job', title: 'Jobs' }, help: 'Jobs', span: () => 'job' }
workKind<{ id: string }>({ ...job, again: ({ id }) => ({ panel: 'Jobs', action: 'Run', id }) })
// @ts-expect-error an action has a row
workKind({ ...job, again: () => ({ panel: 'Jobs', action: 'Run' }) })
