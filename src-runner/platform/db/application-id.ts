/** "DKHD" in the header of the file. A file of another program is not touched. */
export const APPLICATION_ID = 0x444b4844
