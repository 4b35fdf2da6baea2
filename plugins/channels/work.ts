import { type WorkKind, workKind } from '../shared/work/kind.ts'
import type { ChannelPublishTrace } from './hub.ts'

export const work: readonly WorkKind[] = [
  workKind<ChannelPublishTrace>({
    channel: 'channel.publish',
    role: 'publish',
    list: { id: 'channel', title: 'Channels' },
    help: 'Messages to channels',
    span: () => 'publish channel',
    title: ({ channel }) => channel,
    note: ({ kind }) => kind,
    data: ({ kind }) => ({ kind }),
    attributes: ({ channel, kind }) => ({ 'framework.channel.name': channel, 'framework.channel.kind': kind }),
  }),
]
