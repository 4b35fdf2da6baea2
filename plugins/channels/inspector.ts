import type { InspectorPanel } from '../shared/development/panels.ts'

const titles = {
  channels: 'Channels in which someone is',
  members: 'Clients in them',
  streams: 'Clients over server-sent events',
  published: 'Published messages',
  refused: 'Refused messages and joins',
  gaps: 'Gaps in what a client has received',
}

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Channel counts',
    columns: ['What', 'Count'],
    rows(services) {
      const { counts } = services.get('channels')
      return Object.entries(titles).map(([name, title]) => [title, counts[name as keyof typeof titles]])
    },
  },
]
