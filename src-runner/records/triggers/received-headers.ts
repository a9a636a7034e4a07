/** Headers of a request by their names in small letters. One that came twice is a list, or joined by commas, as Node does it. */
export type ReceivedHeaders = Readonly<Record<string, string | string[] | undefined>>
