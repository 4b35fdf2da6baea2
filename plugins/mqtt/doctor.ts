import type { DoctorCheck } from '../toolkit/doctor/check.ts'
import type { SettingsOf } from '../toolkit/options/index.ts'
import type { mqttOptions } from './options.ts'

export const checks: readonly DoctorCheck<SettingsOf<typeof mqttOptions>>[] = [
  {
    code: 'mqtt.memory-broker',
    level: 'warning',
    production: true,
    find({ settings }) {
      if (settings.connect.provider !== 'memory') return undefined
      return {
        problem: 'the MQTT broker is one in the memory of this process: nothing else can reach it',
        remedy: 'Set mqtt.connect to the address of a broker: { url: "mqtts://…" }',
      }
    },
  },
]
