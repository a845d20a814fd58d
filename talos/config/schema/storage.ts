// SPDX-License-Identifier: Apache-2.0

/** Documents of volumes, encryption and disks. The notation is explained in `schema.ts`. */
export const storageTypes: Readonly<Record<string, string>> = {
  "block.EncryptionSpec": `
    EncryptionProvider provider enum:EncryptionProviderType
    EncryptionKeys keys []block.EncryptionKey
    EncryptionCipher cipher? string
    EncryptionKeySize keySize? uint
    EncryptionBlockSize blockSize? uint64
    EncryptionPerfOptions options? []string
    EncryptionAllowDiscards allowDiscards? *bool @14
  `,
  "block.EncryptionKey": `
    KeySlot slot int
    KeyStatic static? *block.EncryptionKeyStatic
    KeyNodeID nodeID? *block.EncryptionKeyNodeID
    KeyKMS kms? *block.EncryptionKeyKMS
    KeyTPM tpm? *block.EncryptionKeyTPM
    KeyLockToSTATE lockToState? *bool @11
  `,
  "block.EncryptionKeyStatic": "KeyData passphrase? string",
  "block.EncryptionKeyKMS": "KMSEndpoint endpoint string",
  "block.EncryptionKeyTPM": `
    TPMOptions options? *block.EncryptionKeyTPMOptions @12
    TPMCheckSecurebootStatusOnEnroll checkSecurebootStatusOnEnroll? *bool
  `,
  "block.EncryptionKeyTPMOptions": "PCRs pcrs? []int",
  "block.ExistingVolumeConfigV1Alpha1": `
    MetaName name string
    VolumeDiscoverySpec discovery? block.VolumeDiscoverySpec
    MountSpec mount? block.ExistingMountSpec
    TrimSpec trim? *block.TrimConfig @14
    ScrubSpec scrub? *block.ScrubConfig @14
  `,
  "block.VolumeDiscoverySpec": "VolumeSelectorConfig volumeSelector? block.VolumeSelector",
  "block.VolumeSelector": "Match match? expression",
  "block.ExistingMountSpec": `
    MountReadOnly readOnly? *bool
    MountDisableAccessTime disableAccessTime? *bool
    MountSecure secure? *bool
  `,
  "block.ExternalVolumeConfigV1Alpha1": `
    MetaName name string
    FilesystemType filesystemType enum:FilesystemType
    MountSpec mount? block.ExternalMountSpec
  `,
  "block.ExternalMountSpec": `
    MountReadOnly readOnly? *bool
    MountDisableAccessTime disableAccessTime? *bool
    MountSecure secure? *bool
    MountVirtiofs virtiofs? *block.VirtiofsMountSpec
  `,
  "block.VirtiofsMountSpec": "VirtiofsTag tag string",
  "block.FilesystemTrimConfigV1Alpha1": "TrimInterval interval? duration",
  "block.FilesystemScrubConfigV1Alpha1": "ScrubInterval interval? duration",
  "block.RawVolumeConfigV1Alpha1": `
    MetaName name string
    ProvisioningSpec provisioning? block.ProvisioningSpec
    EncryptionSpec encryption? block.EncryptionSpec
  `,
  "block.ScrubConfig": `
    ScrubEnabled enabled? *bool
    ScrubInterval interval? duration
  `,
  "block.SwapVolumeConfigV1Alpha1": `
    MetaName name string
    ProvisioningSpec provisioning? block.ProvisioningSpec
    EncryptionSpec encryption? block.EncryptionSpec
  `,
  "block.TrimConfig": `
    TrimEnabled enabled? *bool
    TrimInterval interval? duration
  `,
  "block.UserVolumeConfigV1Alpha1": `
    MetaName name string
    VolumeType volumeType? *enum:VolumeType @12
    ProvisioningSpec provisioning? block.ProvisioningSpec
    FilesystemSpec filesystem? block.FilesystemSpec
    EncryptionSpec encryption? block.EncryptionSpec
    MountSpec mount? block.UserMountSpec @13
    TrimSpec trim? *block.TrimConfig @14
    ScrubSpec scrub? *block.ScrubConfig @14
  `,
  "block.UserMountSpec": `
    MountDisableAccessTime disableAccessTime? *bool
    MountSecure secure? *bool
  `,
  "block.FilesystemSpec": `
    FilesystemType type? enum:FilesystemType
    ProjectQuotaSupportConfig projectQuotaSupport? *bool @11
    XFSSpec xfs? *block.XFSSpec @14
  `,
  "block.XFSSpec": "MinAllocationGroupSizeConfig minAllocationGroupSize? byteSize",
  "block.VolumeConfigV1Alpha1": `
    MetaName name string
    ProvisioningSpec provisioning? block.ProvisioningSpec
    FilesystemSpec filesystem? block.SystemVolumeFilesystemSpec @14
    EncryptionSpec encryption? block.EncryptionSpec @11
    MountSpec mount? block.MountSpec @13
    TrimSpec trim? *block.TrimConfig @14
    ScrubSpec scrub? *block.ScrubConfig @14
  `,
  "block.SystemVolumeFilesystemSpec": "XFSSpec xfs? *block.XFSSpec",
  "block.MountSpec": `
    MountSecure secure? *bool @13
    MountDisableAccessTime disableAccessTime? *bool @14
  `,
  "block.ProvisioningSpec": `
    DiskSelectorSpec diskSelector? block.DiskSelector
    ProvisioningGrow grow? *bool
    ProvisioningMinSize minSize? byteSize
    ProvisioningMaxSize maxSize? size
  `,
  "block.DiskSelector": "Match match? expression",
  "block.ZswapConfigV1Alpha1": `
    MaxPoolPercentConfig maxPoolPercent? *int
    ShrinkerEnabledConfig shrinkerEnabled? *bool
  `,
  "block.EncryptionKeyNodeID": "",
  "storage.LVMLogicalVolumeConfigV1Alpha1": `
    MetaName name string
    LVType type enum:LVMLogicalVolumeType
    LVMirrors mirrors? *uint32
    LVStripes stripes? *uint32
    Provisioning provisioning storage.LVMLogicalVolumeProvisioningSpec
  `,
  "storage.LVMLogicalVolumeProvisioningSpec": `
    VolumeGroup volumeGroup string
    ProvisioningMinSize minSize? byteSize
    ProvisioningMaxSize maxSize? size
  `,
  "storage.LVMVolumeGroupConfigV1Alpha1": `
    MetaName name string
    ProvisioningSpec provisioning storage.ProvisioningSpec
  `,
  "storage.ProvisioningSpec": "VolumeSelector volumeSelector? storage.LVMVolumeSelectorSpec",
  "storage.LVMVolumeSelectorSpec": "Match match? expression",
  "storage.RAIDArrayConfigV1Alpha1": `
    MetaName name string
    Level level enum:MDLevel
    MetadataFormat metadata? enum:MDMetadata
    ProvisioningSpec provisioning storage.RAIDProvisioningSpec
  `,
  "storage.RAIDProvisioningSpec": "RAIDVolumeSelector volumeSelector storage.RAIDVolumeSelector",
  "storage.RAIDVolumeSelector": "Match match? expression",
};
