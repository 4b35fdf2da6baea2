import { peer } from '../../shared/environment/optional-package.ts'
import type { MqttSettings } from '../options.ts'
import type { Link, LinkEvents } from './contract.ts'
import type { MqttPackage } from './mqtt-client.ts'

/** Opens the link for the settings; loads the network client only if it is needed. */
export async function openLink(settings: MqttSettings, events: LinkEvents): Promise<Link> {
  if (settings.provider === 'memory') return new (await import('./memory.ts')).MemoryLink(settings, events)
  const mqtt: unknown = await peer('mqtt', () => import('mqtt'), 'the mqtt plugin')
  return new (await import('./network.ts')).NetworkLink(mqtt as MqttPackage, settings, events)
}
