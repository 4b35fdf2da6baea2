export declare const secondChoices: { readonly postgres: string; readonly mosquitto: string }

export declare function secondChoice(server: 'postgres' | 'mosquitto'): string | undefined

export declare function installSecondChoice(server: 'postgres' | 'mosquitto', deadline: number): Promise<boolean>
