import { type DoctorCheck, notForProduction } from '../shared/doctor/check.ts'
import type { SettingsOf } from '../shared/options/index.ts'
import type { mqttOptions } from './options.ts'

export const checks: readonly DoctorCheck<SettingsOf<typeof mqttOptions>>[] = [
  notForProduction('mqtt.memory-broker', ({ connect }) => connect.provider === 'memory', {
    problem: 'the MQTT broker is one in the memory of this process: nothing else can reach it',
    remedy: 'Set mqtt.connect to the address of a broker: { url: "mqtts://…" }',
  }),
]
